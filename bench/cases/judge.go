package main

import (
	"flag"
	"math"
	"path/filepath"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// verdict is the output of the command judge.
type verdict struct {
	// Problem says how the outputs differ. It is "" if they agree.
	Problem string `json:"problem,omitempty"`
	// Note says what the outputs of burngen agree with if they differ from ONNX Runtime's.
	Note string `json:"note,omitempty"`
	// RMS is the [difference] of burngen from ONNX Runtime.
	RMS float64 `json:"rms"`
	// Accuracy compares both sides with an evaluation in float64.
	Accuracy *accuracy `json:"accuracy,omitempty"`
}

// accuracy holds the [difference] of three outputs from an evaluation in float64: the outputs of ONNX Runtime (Want),
// of burngen (Got), and of burngen in strict mode (Strict).
type accuracy struct {
	Want   float64 `json:"ort"`
	Got    float64 `json:"burngen"`
	Strict float64 `json:"strict"` // burngen in strict mode
	Values int     `json:"values"` // number of output values
}

// judge compares the outputs of ONNX Runtime and of burngen for the same arguments. The verdict has a Problem if they
// differ and [backed] finds no reason for that. There can be a reason in quantised networks: a tie may be rounded
// either way, and ONNX Runtime may have reordered quantisations.
func judge(args []string) (*verdict, error) {
	flags := flag.NewFlagSet("judge", flag.ExitOnError)
	accurate := flags.Bool("accuracy", false, "also compares with an evaluation in float64, which takes its time")
	paths, err := files(flags, args, 4)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Open(paths[0], onnx.Options{})
	if err != nil {
		return nil, err
	}
	f := m.Module.Func("forward")
	want, err := read(paths[2], f.ResultNames)
	if err != nil {
		return nil, err
	}
	got, err := read(paths[3], f.ResultNames)
	if err != nil {
		return nil, err
	}
	v := &verdict{Problem: verify.Compare(m, got, want), RMS: difference(got, want)}
	if v.Problem == "" && !*accurate {
		return v, nil
	}
	var names []string
	for _, p := range f.Params {
		names = append(names, p.Name)
	}
	in, err := read(paths[1], names)
	if err != nil {
		return nil, err
	}
	if v.Problem != "" {
		if as := backed(paths[0], m, in, got); as != "" {
			v.Note, v.Problem = as+", where ONNX Runtime differs: "+v.Problem, ""
		}
	}
	if *accurate {
		strict, err := run(paths[0], in, gen.Options{Strict: true})
		if err != nil {
			return nil, err
		}
		outputs, err := exact(m, in)
		if err != nil {
			return nil, err
		}
		v.Accuracy = &accuracy{Want: difference(want, outputs), Got: difference(got, outputs), Strict: difference(strict, outputs)}
		for _, t := range outputs {
			if t != nil {
				v.Accuracy.Values += t.Len()
			}
		}
	}
	return v, nil
}

// backed returns the reason why burngen's outputs `got` are right although they differ from ONNX Runtime's. There
// are two reasons: the evaluator computes the same results as burngen, or burngen agrees with the operators'
// definitions stage by stage, see [verify.Executed]. backed returns "" if neither holds.
func backed(path string, m *onnx.Model, in, got []*ir.Tensor) string {
	defined, err := verify.Evaluate(m, in)
	if err == nil && verify.Compare(m, got, defined) == "" {
		return "as the operators are defined"
	}
	own, err := run(path, in, gen.Options{})
	if err != nil || verify.Compare(m, got, own) != "" {
		return ""
	}
	cases, err := verify.Find([]string{filepath.Dir(path)})
	if err != nil || len(cases) != 1 {
		return ""
	}
	sum, err := verify.Run(cases, verify.Options{Mode: verify.Executed})
	if err != nil || sum.Passed != 1 {
		return ""
	}
	return "as the operators are defined, stage by stage"
}

func run(path string, in []*ir.Tensor, options gen.Options) ([]*ir.Tensor, error) {
	m, err := gen.Load(path, options)
	if err != nil {
		return nil, err
	}
	var args []any
	var shapes [][]int
	for _, t := range in {
		args, shapes = append(args, value.Slice(t)), append(shapes, t.Shape)
	}
	results, resultShapes, err := m.Run(args, shapes)
	if err != nil {
		return nil, err
	}
	out := make([]*ir.Tensor, len(results))
	for i, r := range results {
		if t := m.Forward.IR.Results[i].Type; t.IsTensor() {
			if out[i], err = value.FromSlice(t.DType, resultShapes[i], r); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// difference returns the largest relative error of an output: the root mean square of got - want, divided by the root
// mean square of want. If want is all zeros, the error is sqrt(Σ(got - want)²). difference leaves out strings,
// outputs that are nil or differ in length, and elements whose difference is not finite.
func difference(got, want []*ir.Tensor) float64 {
	worst := 0.0
	for i, w := range want {
		g := got[i]
		if w == nil || g == nil || g.Len() != w.Len() || w.DType == ir.String {
			continue
		}
		var off, all float64
		for k := range w.Len() {
			a, b := g.Number(k), w.Number(k)
			if math.IsNaN(a-b) || math.IsInf(a-b, 0) {
				continue
			}
			off += (a - b) * (a - b)
			all += b * b
		}
		if all > 0 {
			off /= all
		}
		worst = max(worst, math.Sqrt(off))
	}
	return worst
}

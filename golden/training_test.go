package golden

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/onnx"
)

// training holds PyTorch's results for a model in gradients/, in f64 and in training mode.
type training struct {
	Inputs []struct {
		Shape []int
		Data  []float32
	}
	Loss      float64
	Gradients map[string][]float64
}

// TestTraining takes a step of whole models, with the evaluator and with the kernels after all
// passes. The loss and the gradients must agree with PyTorch's.
func TestTraining(t *testing.T) {
	paths, err := filepath.Glob("gradients/*.onnx")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".onnx")
		t.Run(name, func(t *testing.T) {
			var want training
			if err := json.Unmarshal([]byte(readText(t, "gradients/"+name+".json")), &want); err != nil {
				t.Fatal(err)
			}
			src, err := onnx.Open(path, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var params []string
			for _, w := range src.Module.Weights {
				if want.Gradients[w.Name] != nil {
					params = append(params, w.Name)
				}
			}
			if len(params) != len(want.Gradients) {
				t.Fatalf("of %d parameters the model has %v", len(want.Gradients), params)
			}
			step, err := grad.Step(src.Module, src.Module.Func(pass.Forward), pass.Forward, params)
			if err != nil {
				t.Fatal(err)
			}
			m := &ir.Module{Funcs: []*ir.Func{step}, Weights: src.Module.Weights}
			var args []*ir.Tensor
			var data []any
			var shapes [][]int
			for _, in := range want.Inputs {
				x := ir.NewTensor(ir.F32, in.Shape...)
				for i, v := range in.Data {
					x.SetFloat(i, float64(v))
				}
				args, data, shapes = append(args, x), append(data, in.Data), append(shapes, in.Shape)
			}
			evaluated, err := (&ir.Evaluator{Module: m}).Run(step, args)
			if err != nil {
				t.Fatal(err)
			}
			check := func(by string, get func(result, i int) float64, count func(result int) int) {
				for r, result := range step.ResultNames {
					weight, is := strings.CutPrefix(result, grad.GradPrefix)
					of := []float64{want.Loss}
					if is {
						of = want.Gradients[weight]
					} else if r > 0 {
						continue // a running statistic
					}
					if count(r) != len(of) {
						t.Errorf("%s: %s has %d elements, want %d", by, result, count(r), len(of))
						continue
					}
					if why := differ(of, func(i int) float64 { return get(r, i) }); why != "" {
						t.Errorf("%s: %s: %s", by, result, why)
					}
				}
			}
			check("evaluated", func(r, i int) float64 { return evaluated[r].Float(i) }, func(r int) int { return evaluated[r].Len() })

			compiled, err := gen.FromModule(name, m, gen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			computed, _, err := compiled.Run(data, shapes)
			if err != nil {
				t.Fatal(err)
			}
			check("computed", func(r, i int) float64 { return float64(computed[r].([]float32)[i]) }, func(r int) int { return len(computed[r].([]float32)) })
		})
	}
}

// differ describes the elements that differ from want by more than 1e-4 of the largest one. It
// returns "" if there are no such elements.
func differ(want []float64, got func(i int) float64) string {
	most := 0.0
	for _, v := range want {
		most = max(most, math.Abs(v))
	}
	for i, v := range want {
		if g := got(i); !(math.Abs(g-v) <= 1e-4*most+1e-7) {
			return fmt.Sprintf("element %d is %g, want %g", i, g, v)
		}
	}
	return ""
}

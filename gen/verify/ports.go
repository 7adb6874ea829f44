package verify

import (
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

type ports struct {
	params  []*ir.Value
	results []port
	// rounding is the difference of floats that the precision of products allows, see [gen.Model.Rounding].
	rounding float64
}

type port struct {
	name string
	typ  ir.Type
	// random says that the output depends on a random operator.
	random bool
	// quantum is the step between adjacent values of a quantised output, or 0.
	quantum float64
}

func portsOf(f *ir.Func, operators map[string]int) *ports {
	p := &ports{params: f.Params}
	random, quantises := randomValues(f), false
	for name := range operators {
		quantises = quantises || strings.Contains(name, "Quantize") || strings.Contains(name, "QLinear")
	}
	for i, r := range f.Results {
		quantum := quantumOf(r)
		if d := r.Type.DType; quantises && r.Type.IsTensor() && d.IsInt() && d.Bits() <= 16 {
			quantum = 1
		}
		p.results = append(p.results, port{f.ResultNames[i], r.Type, random[r], quantum})
	}
	return p
}

// quantumOf returns the scale of floats that are dequantised with one constant scale, and possibly
// moved by operators such as Reshape. It returns 0 for other values.
func quantumOf(v *ir.Value) float64 {
	for v != nil && v.Def != nil {
		switch v.Def.Op.(type) {
		case op.DequantizeLinear:
			scale, ok := v.Def.Arg(1).ConstValue()
			if !ok || scale.Len() != 1 {
				return 0
			}
			return scale.Float(0)
		case op.Reshape, op.Transpose, op.Slice, op.Gather, op.Expand:
			v = v.Def.Arg(0)
		default:
			return 0
		}
	}
	return 0
}

// randomValues returns the values of a function that depend on a random operator.
func randomValues(f *ir.Func) map[*ir.Value]bool {
	random := map[*ir.Value]bool{}
	for _, n := range f.Nodes {
		is := isRandom(n)
		for _, a := range n.Args {
			is = is || random[a]
		}
		for _, b := range n.Blocks {
			for inner := range b.All() {
				is = is || isRandom(inner)
				for _, a := range inner.Args {
					is = is || random[a]
				}
			}
		}
		for _, r := range n.Results {
			random[r] = is
		}
	}
	return random
}

func isRandom(n *ir.Node) bool {
	_, ok := n.Op.(interface{ IsRandom() })
	return ok
}

func (p *ports) param(name string) int {
	for i, v := range p.params {
		if v.Name == name {
			return i
		}
	}
	return -1
}

func (p *ports) result(name string) int {
	for i, r := range p.results {
		if r.name == name {
			return i
		}
	}
	return -1
}

// madeUp returns synthetic arguments of the right types for a model without references.
func (p *ports) madeUp() ([]*onnx.Value, error) {
	slices, shapes, err := gen.SampleInputs(&ir.Func{Block: ir.Block{Params: p.params}})
	if err != nil {
		return nil, err
	}
	var args []*onnx.Value
	for i, v := range p.params {
		arg, err := fromGo(v.Type, shapes[i], slices[i])
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

// draw returns a tensor of pseudo-random numbers, as rt.Uniform does.
func draw(d ir.DType, shape []int, lo, hi float64, seed uint32) (*ir.Tensor, error) {
	n, err := rt.Elems(shape)
	if err != nil {
		return nil, err
	}
	data := exec.MakeSlice(d, n)
	exec.Draw(d, data, lo, hi, seed)
	return value.FromSlice(d, shape, data)
}

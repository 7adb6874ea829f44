package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	_ "github.com/burngen/burngen/internal/seeded"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// TestRandomFunctions simulates the plans of random functions.
func TestRandomFunctions(t *testing.T) {
	for name, dims := range map[string][]dim.Dim{
		"static":  dim.Consts(0, 1, 2, 3, 16, 40),
		"scaled":  append(dim.Consts(1, 2, 16), n, n, n.Mul(dim.Const(3))),
		"dynamic": append(dim.Consts(1, 2, 16), n, n.Add(dim.Const(1)), dim.Sym("M")),
	} {
		t.Run(name, func(t *testing.T) {
			modes := map[plan.Mode]int{}
			rapid.Check(t, func(t *rapid.T) {
				d := &drawer{t: t, dims: dims}
				f := d.function()
				p, err := plan.Make(f, early, d.refs)
				if err != nil {
					t.Fatalf("%v\n%s", err, f)
				}
				modes[p.Mode]++
				for _, extents := range draws(t, p.Mode) {
					if err := simulate(p, extents, d.refs); err != nil {
						t.Fatalf("%v: %v\n%s", extents, err, describe(p))
					}
				}
			})
			if want := map[string]plan.Mode{"static": plan.Static, "scaled": plan.Scaled, "dynamic": plan.Dynamic}[name]; modes[want] == 0 {
				t.Errorf("no plan is %s: %v", name, modes)
			}
		})
	}
}

// draws returns values of the symbols to try a plan with. Symbol L is known late.
func draws(t *rapid.T, m plan.Mode) []map[string]int64 {
	late := rapid.Int64Range(0, 9).Draw(t, "L")
	if m == plan.Dynamic {
		small := rapid.Int64Range(0, 12)
		return []map[string]int64{{"N": small.Draw(t, "N"), "M": small.Draw(t, "M"), "L": late}}
	}
	var out []map[string]int64
	for _, n := range []int64{0, 1, 2, 3, 7} {
		out = append(out, map[string]int64{"N": n, "M": 1, "L": late})
	}
	return out
}

var n = dim.Sym("N")

// drawer draws functions of matrices.
type drawer struct {
	t      *rapid.T
	b      *ir.Builder
	dims   []dim.Dim
	values []*ir.Value
	late   bool                     // L is bound
	refs   map[*ir.Node][]*plan.Ref // scratch
}

func (d *drawer) function() *ir.Func {
	f := &ir.Func{Name: "forward"}
	d.b, d.refs = ir.NewBuilder(f), map[*ir.Node][]*plan.Ref{}
	if err := ir.Try(func() {
		for range d.int(1, 3, "params") {
			d.values = append(d.values, d.b.Param("x", d.matrix()))
		}
		for range d.int(1, 30, "nodes") {
			d.values = append(d.values, d.node()...)
		}
		results := make([]*ir.Value, d.int(1, 5, "results"))
		for i := range results {
			results[i] = d.value("result")
			f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
		}
		d.b.Return(results...)
	}); err != nil {
		d.t.Fatal(err)
	}
	return f
}

func (d *drawer) int(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.t, what) }

func (d *drawer) matrix() ir.Type {
	dims := rapid.SampledFrom(d.dims)
	return ir.TensorOf(d.dtype(), dims.Draw(d.t, "rows"), dims.Draw(d.t, "columns"))
}

func (d *drawer) dtype() ir.DType {
	return rapid.SampledFrom([]ir.DType{ir.F32, ir.F32, ir.F32, ir.F32, ir.I32, ir.F64, ir.I8}).Draw(d.t, "dtype")
}

// value draws a value, rather a late one.
func (d *drawer) value(what string) *ir.Value {
	return d.values[len(d.values)-1-min(d.int(0, 5, what), len(d.values)-1)]
}

// like draws a value that fits, nil when there is none.
func (d *drawer) like(fits func(*ir.Value) bool, what string) *ir.Value {
	var fitting []*ir.Value
	for _, v := range d.values {
		if fits(v) {
			fitting = append(fitting, v)
		}
	}
	if fitting == nil {
		return nil
	}
	return fitting[len(fitting)-1-min(d.int(0, 3, what), len(fitting)-1)]
}

func (d *drawer) node() []*ir.Value {
	x := d.value("operand")
	sameType := func(v *ir.Value) bool { return v.Type.Equal(x.Type) }
	rows, columns := x.Type.Shape[0], x.Type.Shape[1]
	one := func(o ir.Op, args ...*ir.Value) []*ir.Value { return []*ir.Value{d.b.Node(o, args...)} }
	switch kind := d.int(0, 14, "kind"); kind {
	case 0:
		return one(op.Neg{}, x)
	case 1:
		return one(op.Add{}, x, d.like(sameType, "addend"))
	case 2, 3:
		return d.pointwise(x)
	case 4, 5, 6:
		shape := rapid.SampledFrom([][]dim.Dim{{columns, rows}, {dim.Const(1), rows.Mul(columns)}, {rows.Mul(columns), dim.Const(1)}}).Draw(d.t, "shape")
		return one(op.Reshape{Shape: shape}, x)
	case 7, 8, 9:
		axis := d.int(0, 1, "axis")
		parts := make([]*ir.Value, d.int(1, 4, "parts"))
		for i := range parts {
			parts[i] = d.like(func(v *ir.Value) bool {
				return v.Type.DType == x.Type.DType && v.Type.Shape[1-axis].Equal(x.Type.Shape[1-axis])
			}, "part")
		}
		if large(parts) {
			return one(op.Neg{}, x)
		}
		return one(op.Concat{Axis: axis}, parts...)
	case 10:
		return one(op.StridedCopy{Shape: []dim.Dim{columns, rows}, Strides: []dim.Dim{dim.Const(1), columns}}, x)
	case 11:
		k, ok := columns.Int()
		if !ok || x.Type.DType != ir.F32 {
			return one(op.Cast{To: ir.F32}, x)
		}
		panels := d.b.Node(ir.Load{Name: fmt.Sprintf("w%d", k), Type: ir.StaticTensor(ir.F32, (k+15)/16, k, 16)})
		return one(storage.MatMulPanels{N: columns}, x, panels, nil, d.like(sameType, "residual"))
	case 12:
		switch to := map[ir.DType]ir.DType{ir.F32: ir.I32, ir.I32: ir.F32, ir.F64: ir.I64}[x.Type.DType]; to {
		case ir.Invalid:
			return one(ir.Load{Name: "w", Type: ir.StaticTensor(ir.F32, 2, 16)})
		default:
			return one(op.BitCast{To: to}, x)
		}
	case 13:
		if !d.late && d.int(0, 1, "late") == 0 {
			d.late = true
			return one(op.NonZero{Count: "L"}, x)
		}
		d.b.Nodes(ir.CheckDim{A: rows, B: rows, What: "rows"})
		return nil
	}
	return d.spread(x)
}

// large reports whether values are too large together to go on with.
func large(values []*ir.Value) bool {
	sum := int64(0)
	for _, v := range values {
		n, _ := v.Type.Elems().Eval(func(string) (int64, bool) { return 7, true })
		sum += n
	}
	return sum > 2000
}

// pointwise draws a region of one to three results with the shape of x. Some results have another
// element type.
func (d *drawer) pointwise(x *ir.Value) []*ir.Value {
	args := []*ir.Value{x}
	for range d.int(0, 3, "more") {
		y := d.like(func(v *ir.Value) bool {
			row := v.Type.Shape[0].Equal(dim.Const(1)) && v.Type.Shape[1].Equal(x.Type.Shape[1])
			return row || slices.EqualFunc(v.Type.Shape, x.Type.Shape, dim.Dim.Equal)
		}, "operand")
		if y != nil && !slices.Contains(args, y) {
			args = append(args, y)
		}
	}
	region := d.b.Block(func(b *ir.Builder) {
		var params, results []*ir.Value
		for _, a := range args {
			p := b.Param("p", ir.TensorOf(a.Type.DType))
			params = append(params, p)
			switch d.int(0, 3, "result") {
			case 0:
				results = append(results, p)
			case 1:
				results = append(results, b.Node(op.Neg{}, p))
			case 2:
				results = append(results, b.Node(op.Cast{To: d.dtype()}, p))
			}
		}
		if results == nil {
			results = params[:1]
		}
		b.Return(results...)
	})
	return d.b.NodeBlocks(op.Pointwise{}, []*ir.Block{region}, args...)
}

// spread draws a node of any operands, results, scratch and rules.
func (d *drawer) spread(x *ir.Value) []*ir.Value {
	o, args := spread{}, []*ir.Value{x}
	for range d.int(0, 3, "more") {
		args = append(args, d.value("operand"))
	}
	for i := range args {
		if d.int(0, 1, "may") == 0 {
			o.May = append(o.May, i)
		}
	}
	for range d.int(1, 3, "results") {
		t := d.value("like").Type
		if d.int(0, 2, "other") == 0 {
			t = d.matrix()
		}
		o.Types = append(o.Types, t)
	}
	results := d.b.Nodes(o, args...)
	for range d.int(0, 2, "scratch") {
		node, v := results[0].Def, &ir.Value{Name: "scratch", Type: d.matrix()}
		d.refs[node] = append(d.refs[node], &plan.Ref{Value: v, Access: plan.Scratch})
	}
	return results
}

// spread is an operator that takes any operands and has results of Types. The first result may
// reuse the memory of the operands in May.
type spread struct {
	Types []ir.Type `ir:"result"`
	May   []int
}

func (op spread) Infer([]ir.Type) ([]ir.Type, error)      { return op.Types, nil }
func (op spread) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, fmt.Errorf("nothing to see") }
func (op spread) Overwrites() []int                       { return op.May }

// describe prints a function with the places of its values.
func describe(p *plan.Plan) string {
	s := p.Func.String()
	place := func(v *ir.Value) {
		at := p.Places[v]
		s += fmt.Sprintf("%s: kind %d, %d%s + %s", v, at.Kind, at.Index, at.Weight, at.Offset)
		if b := at.Buffer; b != nil {
			s += fmt.Sprintf(" of %s, nodes %d to %d, %s bytes at %s", b.Name, b.First, b.Last, b.Bytes, b.Offset)
		}
		s += "\n"
	}
	for _, v := range p.Func.Params {
		place(v)
	}
	for _, n := range p.Func.Nodes {
		for _, v := range n.Results {
			place(v)
		}
	}
	return s
}

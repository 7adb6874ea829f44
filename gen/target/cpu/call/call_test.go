package call_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// dtypes are the element types of at least a byte.
var dtypes = []ir.DType{
	ir.F64, ir.F32, ir.F16, ir.BF16, ir.F8E4M3FN, ir.F8E4M3FNUZ, ir.F8E5M2, ir.F8E5M2FNUZ, ir.F8E8M0,
	ir.I64, ir.I32, ir.I16, ir.I8, ir.U64, ir.U32, ir.U16, ir.U8, ir.Bool, ir.String,
}

// elementwise returns the elementwise operators with attributes that they are defined for.
func elementwise() []op.Elementwise {
	var list []op.Elementwise
	for _, o := range slices.Concat(op.Ops, storage.Ops) {
		if e, ok := o.(op.Elementwise); ok {
			list = append(list, e)
		}
	}
	for _, to := range dtypes {
		for _, round := range []string{"", "down", "nearest"} {
			list = append(list, op.Cast{To: to, Round: round}, op.Cast{To: to, Round: round, Unsaturated: true})
		}
	}
	return append(list, op.BitShift{Left: true}, op.Gelu{Tanh: true}, op.Mod{Truncated: true})
}

// TestElementwiseOperatorsHaveKernelsForAllTypes asserts that an elementwise operator has a kernel
// for every element type that it is defined for, also if an operand is a constant of equal
// elements.
func TestElementwiseOperatorsHaveKernelsForAllTypes(t *testing.T) {
	tried := map[string]bool{}
	n := dim.Sym("N")
	for _, o := range elementwise() {
		for _, d := range dtypes {
			x, flags := ir.TensorOf(d, n), ir.TensorOf(ir.Bool, n)
			for _, types := range [][]ir.Type{{x}, {x, x}, {flags, x, x}} {
				if _, err := o.Infer(types); err != nil {
					continue
				}
				for constants := range 1 << len(types) {
					if constants == 1<<len(types)-1 && len(types) > 0 {
						continue // folding computes it
					}
					if checkLowered(t, o, types, constants) {
						tried[ir.OpName(o)] = true
					}
				}
			}
		}
	}
	if len(tried) < 60 {
		t.Errorf("%d operators were tried, more than 60 expected", len(tried))
	}
}

// checkLowered lowers a function of one operator. A bit of constants makes an operand a constant of
// one element. It reports whether there is such a function.
func checkLowered(t *testing.T, o ir.Op, types []ir.Type, constants int) bool {
	t.Helper()
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		var args []*ir.Value
		for i, typ := range types {
			if constants>>i&1 == 0 {
				args = append(args, b.Param("x", typ))
			} else {
				args = append(args, b.Const(ir.NewTensor(typ.DType)))
			}
		}
		b.Return(b.Nodes(o, args...)...)
	})
	if err != nil {
		return false
	}
	f.ResultNames = []string{"y"}
	m := &ir.Module{Funcs: []*ir.Func{f}}
	if _, err := pass.LowerOps.Run(&pass.Context{Target: cpu.Target{}}, m); err != nil {
		t.Errorf("%s of %v, constants %b: %v", ir.OpName(o), types, constants, err)
	}
	return true
}

// A call with operands of a type without a kernel is an error.
func TestElementTypesWithoutAKernelAreErrors(t *testing.T) {
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	y := b.Node(op.Exp{}, b.Param("x", ir.TensorOf(ir.F16, dim.Const(3))))
	want := "kernel Exp: dst is a []rt.Float16, []T of float32, float64 expected"
	if _, err := call.Of(y.Def); err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
	if err := call.Computes(y.Def); err == nil {
		t.Error("a kernel computes exp of f16")
	}
}

// Constants of equal elements are passed by value, the first operand of two as well.
func TestReadsWhatIsNotPassedByValue(t *testing.T) {
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	x, one := b.Param("x", ir.TensorOf(ir.F32, dim.Const(3))), b.Const(ir.Scalar(ir.F32, 1))
	for i, args := range [][]*ir.Value{{x, one}, {one, x}, {x, x}} {
		y := b.Node(op.Sub{}, args...)
		want := slices.DeleteFunc(slices.Clone(args), func(v *ir.Value) bool { return v == one })
		if got := call.Reads(y.Def); !slices.Equal(got, want) {
			t.Errorf("%d: the kernel reads %s, want %s", i, fmt.Sprint(got), fmt.Sprint(want))
		}
	}
}

// half is a constant that kernels take by value.
var half = ir.Scalar(ir.F32, 0.5)

// called is a node and the text of the calls that compute it.
type called struct {
	op ir.Op
	// operands holds types such as "f32[N,4]", constants, and nil for absent operands. The operands
	// are called a, b, c, …
	operands []any
	want     string
}

// checkCalls compares the calls of nodes with their texts.
func checkCalls(t *testing.T, cases []called) {
	t.Helper()
	for _, c := range cases {
		if got := calls(t, c.op, c.operands...); got != c.want {
			t.Errorf("%+v of %v:\n%s\nwant\n%s", c.op, c.operands, got, c.want)
		}
	}
}

// calls returns the text of the calls that compute a node: the calls that measure its symbols, and
// its own. It returns the error if no kernel computes the node.
func calls(t *testing.T, o ir.Op, operands ...any) string {
	t.Helper()
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	if err := ir.Try(func() {
		args := make([]*ir.Value, len(operands))
		for i, x := range operands {
			switch x := x.(type) {
			case string:
				args[i] = b.Param(string(rune('a'+i)), typeOf(t, x))
			case *ir.Tensor:
				args[i] = b.Const(x)
			}
		}
		b.Nodes(o, args...)
	}); err != nil {
		t.Fatalf("%+v of %v: %v", o, operands, err)
	}
	n := f.Nodes[len(f.Nodes)-1]
	list, err := call.Measures(n)
	if err != nil {
		return err.Error()
	}
	if call.Has(o) {
		c, err := call.Of(n)
		if err != nil {
			return err.Error()
		}
		list = append(list, c)
	}
	var lines []string
	for _, c := range list {
		args := make([]string, len(c.Args))
		for i, a := range c.Args {
			args[i] = argument(a)
		}
		lines = append(lines, c.Kernel.Name+"("+strings.Join(args, " ")+")")
	}
	return strings.Join(lines, "\n")
}

// typeOf parses a type.
func typeOf(t *testing.T, text string) ir.Type {
	t.Helper()
	m, err := ir.Parse("func @f(%x: "+text+") -> (y: "+text+") {\n  return %x\n}\n", storage.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0].Params[0].Type
}

// argument returns the text of an argument of a call. Results are y0, y1, …
func argument(a any) string {
	switch a := a.(type) {
	case nil:
		return "nil"
	case kernel.Operand:
		return a.Value.Name
	case kernel.Result:
		return fmt.Sprintf("y%d", a.Value.Index)
	case kernel.Scratch:
		return fmt.Sprintf("scratch:%s[%s]", a.DType, a.Len)
	case kernel.Element:
		return a.Value.Name + "[0]"
	case kernel.Number:
		if a.DType.IsFloat() {
			return fmt.Sprintf("%s:%g", a.DType, a.Float)
		}
		return fmt.Sprintf("%s:%d", a.DType, a.Int)
	case *kernel.Composite:
		var fields []string
		for _, f := range a.Fields {
			fields = append(fields, f.Name+":"+argument(f.Value))
		}
		return "{" + strings.Join(fields, " ") + "}"
	}
	if v := reflect.ValueOf(a); v.Kind() == reflect.Slice {
		var list []string
		for i := range v.Len() {
			list = append(list, argument(v.Index(i).Interface()))
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	return fmt.Sprint(a)
}

package op

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/ir"
)

// cpuKernels are the exported functions of package cpu, by name.
var cpuKernels = sync.OnceValues(func() (map[string]*ast.FuncType, error) {
	dir := filepath.Join("..", "..", "runtime", "cpu")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	kernels := map[string]*ast.FuncType{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				kernels[f.Name.Name] = f.Type
			}
		}
	}
	return kernels, nil
})

// checkKernel checks that package cpu has the kernel of a call, and that it
// takes as many arguments.
func checkKernel(t tester, c ir.Call) {
	t.Helper()
	kernels, err := cpuKernels()
	if err != nil {
		t.Fatal(err)
	}
	f := kernels[c.Kernel]
	if f == nil {
		t.Fatalf("no kernel %s", c.Kernel)
	}
	n := f.Params.NumFields()
	last := f.Params.List[len(f.Params.List)-1]
	if _, variadic := last.Type.(*ast.Ellipsis); variadic && len(c.Args) >= n-1 {
		return
	}
	if n != len(c.Args) {
		t.Fatalf("%s takes %d arguments, not %d", c.Kernel, n, len(c.Args))
	}
}

// checkKernels lowers f and checks its calls.
func checkKernels(t *testing.T, f *ir.Func) {
	t.Helper()
	for n := range lowered(t, f).All() {
		if op, ok := n.Op.(ir.Caller); ok {
			c, err := op.Call(n)
			if err != nil {
				t.Fatal(err)
			}
			checkKernel(t, c)
		}
	}
}

func TestKernelsTakeTheArgumentsOfTheirCalls(t *testing.T) {
	n := ir.Sym("N")
	whole := func(names string) (all []ir.DType) {
		for _, d := range dtypesOf(t, names) {
			if d.Bits() >= 8 {
				all = append(all, d)
			}
		}
		return all
	}
	for _, test := range unaries {
		if to, ok := test.op.(Cast); ok && to.To.Bits() < 8 {
			continue
		}
		for _, d := range whole(test.dtypes) {
			checkKernels(t, nodeFunc(t, test.op, ir.TensorOf(d, n)))
		}
	}
	for _, test := range binaries {
		for _, d := range whole(test.dtypes) {
			x := ir.TensorOf(d, n)
			checkKernels(t, nodeFunc(t, test.op, x, x))
			for _, constant := range []int{0, 1} {
				if _, ok := test.op.(PRelu); ok && constant == 0 {
					continue // the slope does not broadcast x
				}
				checkKernels(t, buildFunc(t, []ir.Type{x}, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
					args := []*ir.Value{p[0], p[0]}
					args[constant] = b.Scalar(d, 1)
					return b.Nodes(test.op, args...)
				}))
			}
		}
	}
	for _, constant := range []int{0, 1, 2, 3} {
		checkKernels(t, buildFunc(t, types(t, "bool[N]", "f32[N]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
			args := []*ir.Value{p[0], p[1], p[1]}
			for i := range 2 {
				if constant>>i&1 != 0 {
					args[1+i] = b.Scalar(ir.F32, 1)
				}
			}
			return b.Nodes(Where{}, args...)
		}))
	}
	for kind := range reductions {
		for _, d := range whole("f32 f16 i32 u8") {
			checkKernels(t, nodeFunc(t, Reduce{Kind: kind, Axes: []int{0, 2}}, ir.TensorOf(d, n, n, n)))
		}
	}
	for _, op := range []ir.Op{
		ArgMax{}, ArgMin{}, CumSum{}, Softmax{}, LogSoftmax{}, Hardmax{},
	} {
		checkKernels(t, nodeFunc(t, op, ir.TensorOf(ir.F32, n, n)))
	}
	for _, kind := range []Reduction{ReduceMax, ReduceMin} {
		checkKernels(t, nodeFunc(t, Reduce{Kind: kind, Axes: []int{0}}, ir.TensorOf(ir.Bool, n)))
	}
}

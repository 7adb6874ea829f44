package gpu_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

var updating = flag.Bool("update", false, "write the goldens anew")

// network is a model in which products follow each other at once, after a transposition, and after
// elementwise operators, one of which has another reader. A softmax and a product of weights are f32.
const network = `
weight first : f32[8,8]
weight second : f32[8,8]
weight bias : f32[8]

func @forward(%x: f32[6,8]) -> (y: f32[6,6]) {
  %w = load {name="first"} : f32[8,8]
  %v = load {name="second"} : f32[8,8]
  %b = load {name="bias"} : f32[8]
  %wv = mat_mul %w, %v : f32[8,8]
  %p = mat_mul %x, %wv : f32[6,8]
  %s = add %p, %b : f32[6,8]
  %r = relu %s : f32[6,8]
  %q = mat_mul %r, %v : f32[6,8]
  %z = add %q, %r : f32[6,8]
  %n = softmax %z {axis=1} : f32[6,8]
  %t = transpose %q {perm=[1,0]} : f32[8,6]
  %y = mat_mul %n, %t : f32[6,6]
  return %y
}
`

// attending is an attention whose kernel has few instructions.
const attending = `
func @forward(%q: f32[1,1,4,2], %k: f32[1,1,4,2]) -> (y: f32[1,1,4,2]) {
  %y = attention %q, %k, %k {scale=1 before=-1 after=-1} : f32[1,1,4,2]
  return %y
}
`

// matMul is a product of several tiles, whose last ones are not full.
const matMul = `
weight w : f32[41,101]

func @forward(%x: f32[70,41]) -> (y: f32[70,101]) {
  %w = load {name="w"} : f32[41,101]
  %y = mat_mul %x, %w : f32[70,101]
  return %y
}
`

// encoder returns a transformer with a number of layers on 6 tokens of 16 features, with 2 heads. If fused is
// false, attentions are made of products and softmaxes. The scores have a standard deviation of about 5.
func encoder(layers int, fused bool) string {
	var weights, nodes strings.Builder
	x := "%x"
	for l := range layers {
		names := map[string]string{"q": "16,16", "k": "16,16", "v": "16,16", "o": "16,16", "up": "16,32", "down": "32,16", "g": "16", "b": "16"}
		for _, name := range []string{"q", "k", "v", "o", "up", "down", "g", "b"} {
			fmt.Fprintf(&weights, "weight \"%s%d\" : f32[%s]\n", name, l, names[name])
			fmt.Fprintf(&nodes, "  %%w%s%d = load {name=\"%s%d\"} : f32[%s]\n", name, l, name, l, names[name])
		}
		node := func(format string, args ...any) {
			fmt.Fprintf(&nodes, "  "+strings.ReplaceAll(format, "@", fmt.Sprint(l))+"\n", args...)
		}
		node("%%n@ = layer_normalization %s, %%wg@, %%wb@ {axis=1 epsilon=1e-05} : f32[9,16]", x)
		for _, name := range []string{"q", "k", "v"} {
			node("%%p%s@ = mat_mul %%n@, %%w%s@ : f32[9,16]", name, name)
			node("%%r%s@ = reshape %%p%s@ {shape=[1,9,2,8]} : f32[1,9,2,8]", name, name)
			node("%%%s@ = transpose %%r%s@ {perm=[0,2,1,3]} : f32[1,2,9,8]", name, name)
		}
		if fused {
			node("%%a@ = attention %%q@, %%k@, %%v@ {scale=0.35 before=-1 after=-1} : f32[1,2,9,8]")
		} else {
			node("%%t@ = transpose %%k@ {perm=[0,1,3,2]} : f32[1,2,8,9]")
			node("%%m@ = mat_mul %%q@, %%t@ : f32[1,2,9,9]")
			node("%%c@ = constant {value=f32[](0.35)} : f32[]")
			node("%%s@ = mul %%m@, %%c@ : f32[1,2,9,9]")
			node("%%e@ = softmax %%s@ {axis=3} : f32[1,2,9,9]")
			node("%%a@ = mat_mul %%e@, %%v@ : f32[1,2,9,8]")
		}
		node("%%b@ = transpose %%a@ {perm=[0,2,1,3]} : f32[1,9,2,8]")
		node("%%d@ = reshape %%b@ {shape=[9,16]} : f32[9,16]")
		node("%%o@ = mat_mul %%d@, %%wo@ : f32[9,16]")
		node("%%x@ = add %s, %%o@ : f32[9,16]", x)
		node("%%n2@ = layer_normalization %%x@, %%wg@, %%wb@ {axis=1 epsilon=1e-05} : f32[9,16]")
		node("%%u@ = mat_mul %%n2@, %%wup@ : f32[9,32]")
		node("%%f@ = relu %%u@ : f32[9,32]")
		node("%%g@ = mat_mul %%f@, %%wdown@ : f32[9,16]")
		node("%%y@ = add %%x@, %%g@ : f32[9,16]")
		x = fmt.Sprint("%y", l)
	}
	return weights.String() + "\nfunc @forward(%x: f32[9,16]) -> (y: f32[9,16]) {\n" + nodes.String() + "  return " + x + "\n}\n"
}

// TestPrecisionGoldens compares the lowered network and the kernel of an attention with the goldens, and the
// network's results with the evaluator's. They differ by at most [gpu.Precision.Rounding].
func TestPrecisionGoldens(t *testing.T) {
	for i, name := range gpu.Precisions {
		t.Run(name, func(t *testing.T) {
			target := gpu.Target{Language: interpreted.Language, Precision: gpu.Precision(i), Device: writer{}}
			m := agreesRounded(t, target, network)
			want := 4 * target.Precision.Unit() * math.Sqrt(2*2*math.Log(8)+1) // %p, %q, the softmax and %y
			if got := target.Precision.Rounding(m, m.Func(pass.Forward)); math.Abs(got-want) > 1e-9 {
				t.Errorf("the tolerance of the lowered model is %g, want %g: %%wv is prepared", got, want)
			}
			text := m.String() + kernelsOf(t, target, lowered(t, target, parsed(t, attending)))
			file := filepath.Join("testdata", "precision_"+name+".txt")
			if *updating {
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if golden, err := os.ReadFile(file); err != nil || string(golden) != text {
				t.Errorf("%v; got\n%s", err, text)
			}
		})
	}
}

// TestMatrices computes a product of several tiles with matrices that warps multiply.
func TestMatrices(t *testing.T) {
	for _, p := range lower {
		m := agreesRounded(t, multiplying(p, gpu.Interpreter{}), matMul)
		if kernels := kernelsOf(t, multiplying(p, nil), m); !strings.Contains(kernels, " = mat_mul_add ") {
			t.Errorf("%s: the kernel multiplies no matrices:\n%s", p, kernels)
		}
	}
}

// TestPipelined computes products with pipelined kernels: of several tiles and batches, with elementwise operators that are
// fused into them.
func TestPipelined(t *testing.T) {
	for _, p := range lower {
		for _, text := range []string{pipelinedMatMul, pipelinedBatch, pipelinedConv} {
			m := agreesRounded(t, pipelining(p, gpu.Interpreter{Pipelined: true}), text)
			f, err := program.Compile(m, pass.Forward, pipelining(p, nil))
			if err != nil {
				t.Fatal(err)
			}
			fast := 0
			for _, s := range f.Steps {
				if l, ok := s.(*gpu.Launch); ok && l.Faster != nil {
					fast++
				}
			}
			// Tiles of tf32 must be adjacent in memory along the terms.
			if wanted := p != gpu.TF32 || text == pipelinedConv; wanted != (fast > 0) {
				t.Errorf("%s: %d launches have a pipelined kernel:\n%s", p, fast, m)
			}
		}
	}
}

const pipelinedMatMul = `
weight w : f32[48,136]
weight b : f32[136]

func @forward(%x: f32[70,48]) -> (y: f32[70,136]) {
  %w = load {name="w"} : f32[48,136]
  %b = load {name="b"} : f32[136]
  %p = mat_mul %x, %w : f32[70,136]
  %q = add %p, %b : f32[70,136]
  %y = relu %q : f32[70,136]
  return %y
}
`

const pipelinedBatch = `
weight w : f32[3,40,72]

func @forward(%x: f32[3,66,40]) -> (y: f32[3,66,72]) {
  %w = load {name="w"} : f32[3,40,72]
  %y = mat_mul %x, %w : f32[3,66,72]
  return %y
}
`

// pipelinedConv has enough windows for a pipelined kernel, and for images of any number.
const pipelinedConv = `
weight w : f32[64,64,3,3]
weight b : f32[64]

func @forward(%x: f32[N,64,72,71]) -> (y: f32[N,64,36,36]) {
  %w = load {name="w"} : f32[64,64,3,3]
  %b = load {name="b"} : f32[64]
  %p = conv %x, %w, %b {window={kernel=[3,3] strides=[2,2] pads=[1,1,1,1]} group=1} : f32[N,64,36,36]
  %y = relu %p : f32[N,64,36,36]
  return %y
}
`

// pipelining returns a target with pipelined kernels.
func pipelining(p gpu.Precision, device gpu.Device) gpu.Target {
	target := multiplying(p, device)
	target.Pipelined = &gpu.Pipelined{File: "faster.txt", Capability: "9.0", Shared: func(*kernel.Kernel) int { return 0 }}
	return target
}

// TestTransformerRounds computes transformers in each precision. Errors are within the tolerance, although
// scores are large, and the tolerance is less than the numbers.
func TestTransformerRounds(t *testing.T) {
	for _, p := range lower {
		for _, fused := range []bool{true, false} {
			for _, layers := range []int{1, 3} {
				m := agreesRounded(t, multiplying(p, gpu.Interpreter{}), encoder(layers, fused))
				if r := p.Rounding(m, m.Func(pass.Forward)); r > 0.3 {
					t.Errorf("%s: the tolerance of %d layers is %g: wrong results would pass", p, layers, r)
				}
			}
		}
	}
}

// lower are the precisions other than f32.
var lower = []gpu.Precision{gpu.TF32, gpu.F16, gpu.BF16}

// multiplying returns a target whose warps multiply matrices.
func multiplying(p gpu.Precision, device gpu.Device) gpu.Target {
	target := gpu.Target{Language: interpreted.Language, Precision: p, Device: device}
	target.Matrices = true
	return target
}

// parsed returns a module with drawn weights, each with numbers of its own.
func parsed(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range m.Weights {
		shape, _ := w.Type.Static()
		w.Data = numbers(uint64(i), shape...).Bytes()
	}
	return m
}

// numbers draws numbers from −1 to 1.
func numbers(seed uint64, shape ...int) *ir.Tensor {
	r, x := rand.New(rand.NewPCG(3, seed)), ir.NewTensor(ir.F32, shape...)
	for i := range x.Len() {
		x.SetFloat(i, 2*r.Float64()-1)
	}
	return x
}

// lowered returns the module lowered for a target.
func lowered(t *testing.T, target gpu.Target, m *ir.Module) *ir.Module {
	t.Helper()
	m = m.Clone()
	if err := pass.All(&pass.Context{Target: target}, m, pass.Options{}); err != nil {
		t.Fatal(err)
	}
	return m
}

// agreesRounded compares the result of a model on a target with the evaluator's. They differ by at most
// [gpu.Precision.Rounding] and, if products are rounded, by more than f32 explains. It returns the lowered
// module.
func agreesRounded(t *testing.T, target gpu.Target, text string) *ir.Module {
	t.Helper()
	m, off := deviation(t, target, text)
	share := max(target.Precision.Rounding(m, m.Func(pass.Forward)), 1e-6)
	if !(off <= share) {
		t.Errorf("%s: an element is off by %g of its size and the root mean square, %g expected", target.Precision, off, share)
	}
	if share > 1e-4 && off < share/100 {
		t.Errorf("%s: the elements are off by %g at most, far less than %g: are products rounded at all?", target.Precision, off, share)
	}
	return m
}

// deviation returns the lowered module of a model, and the greatest difference of its result on a target from
// the evaluator's, as a share of the element's size and of the root mean square.
func deviation(t *testing.T, target gpu.Target, text string) (m *ir.Module, off float64) {
	t.Helper()
	before := parsed(t, text)
	f := before.Func(pass.Forward)
	var shape []int
	for _, d := range f.Params[0].Type.Shape {
		n, err := d.Eval(func(string) (int64, bool) { return 6, true })
		if err != nil {
			t.Fatal(err)
		}
		shape = append(shape, int(n))
	}
	x := numbers(1000, shape...)
	want, err := (&ir.Evaluator{Module: before}).Run(f, []*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	m = lowered(t, target, before)
	machine, err := exec.Prepared(target, m, pass.Prepare, pass.Forward)
	if err != nil {
		t.Fatal(err)
	}
	out, shapes, err := machine.Run(context.Background(), []any{value.ToGo(x)}, [][]int{x.Shape})
	if err != nil {
		t.Fatal(err)
	}
	got, err := value.FromGo(want[0].Type(), shapes[0], out[0])
	if err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for i := range got.Len() {
		squares += want[0].Float(i) * want[0].Float(i)
	}
	rms := math.Sqrt(squares / float64(got.Len()))
	for i := range got.Len() {
		off = max(off, math.Abs(got.Float(i)-want[0].Float(i))/(rms+math.Abs(want[0].Float(i))))
	}
	return m, off
}

// kernelsOf returns the kernels of the products of @forward, each once.
func kernelsOf(t *testing.T, target gpu.Target, m *ir.Module) string {
	t.Helper()
	f, err := program.Compile(m, pass.Forward, target)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	seen := map[string]bool{}
	for _, s := range f.Steps {
		l, ok := s.(*gpu.Launch)
		if !ok {
			continue
		}
		if multiplies(l.Node) && !seen[l.Kernel.String()] {
			seen[l.Kernel.String()] = true
			texts = append(texts, "\n"+l.Kernel.String())
		}
	}
	return strings.Join(texts, "")
}

// multiplies reports whether a node is a product, or one is fused into it.
func multiplies(n *ir.Node) bool {
	if _, ok := n.Op.(op.Product); ok {
		return true
	}
	for _, b := range n.Blocks {
		if slices.ContainsFunc(b.Nodes, multiplies) {
			return true
		}
	}
	return false
}

// TestRound asserts which numbers are factors of products.
func TestRound(t *testing.T) {
	for _, c := range []struct {
		p       gpu.Precision
		x, want float64
	}{
		{gpu.F32, 1 + 0x1p-23, 1 + 0x1p-23},
		{gpu.TF32, 1 + 0x1p-10, 1 + 0x1p-10}, {gpu.TF32, -1 - 0x1p-11, -1 - 0x1p-10}, {gpu.TF32, 1 + 0x1p-12, 1}, {gpu.TF32, 0x1p100, 0x1p100},
		{gpu.F16, 1 + 0x1p-10, 1 + 0x1p-10}, {gpu.F16, 1 + 0x1p-11, 1}, {gpu.F16, 0x1p100, math.Inf(1)},
		{gpu.BF16, 1 + 0x1p-7, 1 + 0x1p-7}, {gpu.BF16, 1 + 0x1p-8, 1}, {gpu.BF16, 0x1p100, 0x1p100},
	} {
		if got := c.p.Round(c.x); got != c.want {
			t.Errorf("%s: %g is rounded to %g, want %g", c.p, c.x, got, c.want)
		}
	}
	if got := gpu.TF32.Round(math.NaN()); got == got {
		t.Errorf("not a number is rounded to %g", got)
	}
}

// mutant is a device on which the kernels of products are wrong.
type mutant struct {
	gpu.Interpreter
	change func(in *kernel.Instr) bool // changes an instruction, or returns false
	count  *int                        // of changes
}

func (m mutant) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	wrong, err := kernel.Parse(k.String())
	if err != nil {
		return err
	}
	if strings.HasPrefix(k.Name, "product") {
		m.mutate(wrong.Body)
	}
	return m.Interpreter.Launch(wrong, grid, args)
}

func (m mutant) mutate(b *kernel.Block) {
	for _, in := range b.Instrs {
		if m.change(in) {
			*m.count++
			continue
		}
		for _, inner := range in.Blocks {
			m.mutate(inner)
		}
	}
}

// TestToleranceFindsWrongProducts asserts that no tolerance of a precision hides a kernel that leaves out a
// part of the terms of its sums, or that multiplies other terms with each other.
func TestToleranceFindsWrongProducts(t *testing.T) {
	mutations := map[string]func(in *kernel.Instr) bool{
		"the first block of terms is left out": func(in *kernel.Instr) bool {
			if in.Op != kernel.For || !slices.ContainsFunc(in.Blocks[0].Instrs, func(in *kernel.Instr) bool { return in.Op == kernel.Barrier }) {
				return false
			}
			in.Args[0] = in.Args[2] // begin with the second block
			return true
		},
		"halves of the terms are swapped": func(in *kernel.Instr) bool {
			if in.Op != kernel.MatMulAdd {
				return false
			}
			n, _, _, _ := kernel.FactorsOfMatrix(in.Args[0].Type.DType)
			a := slices.Clone(in.Args[:n])
			copy(in.Args, append(a[n/2:], a[:n/2]...))
			return true
		},
	}
	for name, change := range mutations {
		for _, p := range lower {
			for what, text := range map[string]string{"a product": matMul, "a transformer": encoder(2, false)} {
				count := 0
				m, off := deviation(t, multiplying(p, mutant{change: change, count: &count}), text)
				if r := p.Rounding(m, m.Func(pass.Forward)); !(off > r) || count == 0 {
					t.Errorf("%s, %s, %s: off by %g, which the tolerance %g hides (%d mutations)", p, what, name, off, r, count)
				}
			}
		}
	}
}

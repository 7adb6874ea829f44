package kernel_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// The product of [pipeline] has this many steps of 64 terms, which pass through this many stages.
const (
	pipelineSteps  = 5
	pipelineStages = 2
)

// pipeline is a kernel that computes y = a·bᵀ of matrices of 64 rows. Group 0 copies steps, and group 1 multiplies them.
func pipeline(t tester) *kernel.Kernel {
	const terms = 64
	return build(t, "pipeline", []int{2 * kernel.Group}, func(b *kernel.Builder) {
		from := b.Map("from", ir.BF16, &kernel.Map{Extents: []int{128, pipelineSteps * terms}, Box: []int{64, terms}})
		y := b.Pointer("y", ir.F32)
		x, w := b.Shared("x", ir.BF16, pipelineStages*64*terms), b.Shared("w", ir.BF16, pipelineStages*64*terms)
		full, empty := b.Phases("full", pipelineStages, 1), b.Phases("empty", pipelineStages, 1)
		sums := b.Sums("sums", 64)
		stage := func(step *kernel.Value) (index, phase *kernel.Value) {
			return b.Rem(step, b.Int(pipelineStages)), b.Rem(b.Div(step, b.Int(pipelineStages)), b.Int(2))
		}
		b.If(b.Eq(b.Group(), b.Int(0)), func() []*kernel.Value {
			b.Registers(40)
			b.Do(b.Eq(b.Thread(0), b.Int(0)), func() {
				b.Times(b.Int(pipelineSteps), nil, func(step *kernel.Value, _ []*kernel.Value) []*kernel.Value {
					i, phase := stage(step)
					b.Await(empty, i, b.Sub(b.Int(1), phase))
					b.Arrive(full, i, b.Int(2*2*64*terms))
					at, k := b.Mul(i, b.Int(64*terms)), b.Mul(step, b.Int(terms))
					b.CopyBox(x, at, from, full, i, b.Int(0), k)
					b.CopyBox(w, at, from, full, i, b.Int(64), k)
					return nil
				})
			})
			return nil
		}, func() []*kernel.Value {
			b.Times(b.Int(pipelineSteps), nil, func(step *kernel.Value, _ []*kernel.Value) []*kernel.Value {
				i, phase := stage(step)
				b.Await(full, i, phase)
				for k := 0; k < terms; k += 16 {
					at := b.Add(b.Mul(i, b.Int(64*terms)), b.Int(k))
					keep := b.Or(b.Gt(step, b.Int(0)), b.Bool(k > 0))
					b.MultiplyTiles(sums, kernel.Tile{Array: x, First: at}, kernel.Tile{Array: w, First: at}, keep)
				}
				b.Commit()
				b.Drain(0)
				b.Do(b.Eq(b.Rem(b.Thread(0), b.Int(kernel.Group)), b.Int(0)), func() { b.Arrive(empty, i, nil) })
				return nil
			})
			thread := b.Rem(b.Thread(0), b.Int(kernel.Group))
			lane := b.Rem(thread, b.Int(kernel.Warp))
			row := b.Add(b.Mul(b.Div(thread, b.Int(kernel.Warp)), b.Int(16)), b.Div(lane, b.Int(4)))
			for i := range 32 {
				column := b.Add(b.Mul(b.Rem(lane, b.Int(4)), b.Int(2)), b.Int(i/4*8+i%2))
				b.Store(y, b.Add(b.Mul(b.Add(row, b.Int(i/2%2*8)), b.Int(64)), column), b.Sum(sums, i))
			}
			return nil
		})
	})
}

// runPipeline interprets the kernel of a text that [pipeline] has printed. Elements are small integers, so sums are
// exact.
func runPipeline(t *testing.T, text string, seed uint64) error {
	k, err := kernel.Parse(text)
	if err != nil {
		return err
	}
	const terms = 64 * pipelineSteps
	x := ir.NewTensor(ir.BF16, 128, terms)
	r := rand.New(rand.NewPCG(1, seed))
	for i := range x.Len() {
		x.SetFloat(i, float64(r.IntN(9)-4))
	}
	y := make([]float32, 64*64)
	if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Bytes(ir.BF16, x.Bytes()), kernel.Memory(y)}, kernel.Options{Seed: seed}); err != nil {
		return err
	}
	for i, got := range y {
		want := 0.0
		for k := range terms {
			want += x.Float(i/64*terms+k) * x.Float((64+i%64)*terms+k)
		}
		if float64(got) != want {
			t.Fatalf("element (%d, %d) is %v, want %v", i/64, i%64, got, want)
		}
	}
	return nil
}

// TestPipeline interprets a pipelined kernel, and the kernel with mistakes, which the interpreter finds in any order of
// threads.
func TestPipeline(t *testing.T) {
	text := pipeline(t).String()
	if k := parse(t, text); k.String() != text {
		t.Fatalf("it does not read as it prints:\n%s\n%s", text, k)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{name: "right"},
		{"a wait for copies is missing", `await %full\[.*`, "", "was not written|has not waited for the copy"},
		{"a wait for products is missing", `await %empty\[.*`, "", "a race: "},
		{"arrivals before products are done", "drain 0", "drain 3", "a race: a product of group 1 may read|waits for ever|not done"},
		{"sums that are not done", "drain 0", "drain 4", "a race|the products are not done"},
		{"arrivals are missing", `arrive %empty\[.*`, "", "waits for ever"},
		{"bytes are missing", `(arrive %full\[%\w+\]), %\w+`, "$1", "waits for ever|has not waited|a race"},
		{"a box on an odd place", `copy_box %x\[%\w+\]`, "copy_box %x[%odd]", "a box at element"},
		{"no sums to add to", `%(\w+) = gt (.*) : bool`, "%$1 = ge $2 : bool", "no sums to add to"},
	} {
		broken := text
		if c.from != "" {
			broken = regexp.MustCompile(c.from).ReplaceAllString(text, c.to)
			broken = regexp.MustCompile(`(?m)^(  %\w+ = group)`).ReplaceAllString(broken, "  %odd = const 8 : i32\n$1")
		}
		for seed := range uint64(3) {
			err := runPipeline(t, broken, seed)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", c.name, err)
			case c.want != "" && (err == nil || !regexp.MustCompile(c.want).MatchString(err.Error())):
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
}

// TestEarly asserts that only pipelined kernels can be early.
func TestEarly(t *testing.T) {
	text := strings.Replace(pipeline(t).String(), ") block", ") early block", 1)
	if k := parse(t, text); !k.Early || k.String() != text {
		t.Errorf("it does not read as it prints:\n%s\n%s", text, k)
	}
	if _, err := kernel.Parse("kernel k() early block 1, 1, 1 {\n}\n"); err == nil || !strings.Contains(err.Error(), "not pipelined") {
		t.Error(err)
	}
}

// TestPipelineMistakes asserts which pipelined kernels the verifier refuses.
func TestPipelineMistakes(t *testing.T) {
	text := pipeline(t).String()
	for _, c := range []struct{ from, to, want string }{
		{`box \[64, 64\]`, "box [64, 32]", "want 128 bytes"},
		{`\[128, 320\]`, "[128, 321]", "a multiple of 16"},
		{`\[128, 320\]`, "[128]", "2 to 5 extents"},
		{"of 1\n", "of 0\n", "array %full"},
		{`sums %sums: f32\[64\]`, "sums %sums: f32[60]", "sums %sums"},
		{"registers 40", "registers 41", "a multiple of 8"},
		{"drain 0", "drain 8", "0 to 7"},
		{`%sums\[31\]`, "%sums[32]", "element 32"},
		{"commit", "%at = const 0 : i32\n%loaded = load %x[%at] : bf16\ncommit", "boxes are copied to %x"},
		{"await %empty", "commit\nawait %empty", "may differ between the threads of a group"},
		{"block 256", "block 192", "no whole groups"},
	} {
		broken := regexp.MustCompile(c.from).ReplaceAllString(text, c.to)
		if broken == text {
			t.Errorf("%q is not in the text", c.from)
		}
		if _, err := kernel.Parse(broken); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.to, err, c.want)
		}
	}
}

// windowed is a kernel that copies cells of windows on images whose number is an argument.
const windowed = `kernel windowed(%n: i32, %x: map bf16 [%n, 6, 7, 64] box [64, 64] windows [-1, -2] to [5, 4] by [2, 3], %y: global bf16 written) block 32, 1, 1 {
  shared %box: bf16[4096] written
  phases %full[1] of 1
  %0 = const 0 : i32
  %1 = const 1 : i32
  %bytes = const 8192 : i32
  arrive %full[%0], %bytes
  copy_box %box[%0], %x, %full, %0, %0, %1, %1, %0, %1, %0
}
`

// TestWindows reads and prints a kernel with windows, and asserts which mistakes the verifier and the interpreter find.
func TestWindows(t *testing.T) {
	if k := parse(t, windowed); k.String() != windowed {
		t.Fatalf("it does not read as it prints:\n%s", k)
	}
	run := func(text string, images int32) error {
		k, err := kernel.Parse(strings.Replace(text, "block 32", "block 1", 1))
		if err != nil {
			return err
		}
		x, y := make([]byte, 3*6*7*64*2), make([]byte, 2)
		return k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Number(images), kernel.Bytes(ir.BF16, x), kernel.Bytes(ir.BF16, y)}, kernel.Options{})
	}
	for _, c := range []struct {
		from, to string
		images   int32
		want     string
	}{
		{"%n", "%n", 3, ""},
		{"%n", "%n", 0, "the first extent of a map is 0"},
		{"%n", "%n", 2, "8064 elements, want 5376"},
		{"[%n, 6,", "[%y, 6,", 3, "%y is not defined"},
		{"by [2, 3]", "by [2, 4]", 3, "windows from -2 to 4 by 4"},
		{"[-1, -2]", "[-129, -2]", 3, "windows from -129"},
		{"[-1, -2]", "[-2]", 3, "windows on a tensor with 4 extents"},
		{"box [64, 64]", "box [1, 64, 64]", 3, "in boxes with 3"},
		{"%0, %1, %1, %0, %1, %0", "%0, %0, %1, %0, %1, %0", 3, "a window at 0, from -1 to 5 by 2"},
		{"%0, %1, %1, %0, %1, %0", "%0, %1, %1, %0, %bytes, %0", 3, "a cell at offset 8192"},
		{"%0, %1, %1, %0, %1, %0", "%0, %1, %1, %0, %1", 3, "operands"},
	} {
		if !strings.Contains(windowed, c.from) {
			t.Errorf("%q is not in the text", c.from)
		}
		err := run(strings.Replace(windowed, c.from, c.to, 1), c.images)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.to, err, c.want)
		}
	}
}

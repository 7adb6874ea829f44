package kernel_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// held is a kernel that computes y = 2·a·b + a·b. Element (m, k) of a, [64,16], is m − 3·k, and b, [16,64], is a box.
func held(t tester) *kernel.Kernel {
	return build(t, "held", []int{2 * kernel.Group}, func(b *kernel.Builder) {
		from, y := b.Map("from", ir.BF16, &kernel.Map{Extents: []int{16, 64}, Box: []int{16, 64}}), b.Pointer("y", ir.F32)
		box, full, sums := b.Shared("box", ir.BF16, 16*64), b.Phases("full", 1, 1), b.Sums("sums", 64)
		b.If(b.Eq(b.Group(), b.Int(0)), func() []*kernel.Value {
			b.Do(b.Eq(b.Thread(0), b.Int(0)), func() {
				b.Arrive(full, b.Int(0), b.Int(2*16*64))
				b.CopyBox(box, b.Int(0), from, full, b.Int(0), b.Int(0), b.Int(0))
			})
			return nil
		}, func() []*kernel.Value {
			thread := b.Rem(b.Thread(0), b.Int(kernel.Group))
			lane := b.Rem(thread, b.Int(kernel.Warp))
			row := b.Add(b.Mul(b.Div(thread, b.Int(kernel.Warp)), b.Int(16)), b.Div(lane, b.Int(4)))
			pair := b.Mul(b.Rem(lane, b.Int(4)), b.Int(2))
			var a [4]*kernel.Value
			for i := range a {
				m, k := b.Add(row, b.Int(i%2*8)), b.Add(pair, b.Int(i/2*8))
				element := func(k *kernel.Value) *kernel.Value {
					return b.Convert(ir.BF16, b.Convert(ir.F32, b.Sub(m, b.Mul(k, b.Int(3)))))
				}
				a[i] = b.Join(element(k), element(b.Add(k, b.Int(1))))
			}
			b.Await(full, b.Int(0), b.Int(0))
			tile := kernel.Tile{Array: box, First: b.Int(0), Across: true}
			b.MultiplyHeld(sums, a, tile, b.Bool(false))
			b.Commit()
			b.Drain(0)
			for i := range 32 {
				b.SetSum(sums, i, b.Mul(b.Sum(sums, i), b.Float(ir.F32, 2)))
			}
			b.MultiplyHeld(sums, a, tile, b.Bool(true))
			b.Commit()
			b.Drain(0)
			for i := range 32 {
				column := b.Add(pair, b.Int(i/4*8+i%2))
				b.Store(y, b.Add(b.Mul(b.Add(row, b.Int(i/2%2*8)), b.Int(64)), column), b.Sum(sums, i))
			}
			return nil
		})
	})
}

func runHeld(t *testing.T, text string, seed uint64) error {
	k, err := kernel.Parse(text)
	if err != nil {
		return err
	}
	x := ir.NewTensor(ir.BF16, 16, 64)
	for i := range x.Len() {
		x.SetFloat(i, float64(i%7-3))
	}
	y := make([]float32, 64*64)
	if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Bytes(ir.BF16, x.Bytes()), kernel.Memory(y)}, kernel.Options{Seed: seed}); err != nil {
		return err
	}
	for i, got := range y {
		want := 0.0
		for k := range 16 {
			want += 3 * float64(i/64-3*k) * x.Float(k*64+i%64)
		}
		if float64(got) != want {
			t.Fatalf("element (%d, %d) is %v, want %v", i/64, i%64, got, want)
		}
	}
	return nil
}

// TestMultiplyHeld interprets a product of a matrix in registers, and the kernel with mistakes.
func TestMultiplyHeld(t *testing.T) {
	text := held(t).String()
	if k := parse(t, text); k.String() != text {
		t.Fatalf("it does not read as it prints:\n%s\n%s", text, k)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{name: "right"},
		{"sums that are not done are replaced", `(set_sum %sums\[31\].*)`, "$1\n%late = const false : bool\nmultiply_held %box[%where], %sums, %late, %word, %word, %word, %word across_b\nset_sum %sums[0], %number", "the products are not done"},
		{"no sums to add to", `const false : bool`, "const true : bool", "no sums to add to"},
		{"a wait for the copy is missing", `await .*`, "", "was not written|has not waited for the copy"},
		{"other factors", `multiply_held %box\[%\w+\]`, "multiply_held %box[%place]", "has other operands|element 1024 of 1024|a tile at element"},
	} {
		broken := text
		if c.from != "" {
			broken = regexp.MustCompile(c.from).ReplaceAllString(text, c.to)
			broken = regexp.MustCompile(`(?m)^(  %\w+ = group)`).ReplaceAllString(broken,
				"  %where = const 0 : i32\n  %word = const 0 : u32\n  %number = const 0 : f32\n  %place = thread x : i32\n$1")
		}
		for seed := range uint64(3) {
			err := runHeld(t, broken, seed)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !regexp.MustCompile(c.want).MatchString(err.Error())) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
	if err := runHeld(t, strings.ReplaceAll(text, "drain 0", "drain 1"), 1); err == nil || !strings.Contains(err.Error(), "the products are not done") {
		t.Errorf("without waits: %v", err)
	}
}

// TestHeldMistakes asserts which products of held matrices the verifier refuses.
func TestHeldMistakes(t *testing.T) {
	text := regexp.MustCompile(`(?m)^(  %\w+ = group)`).ReplaceAllString(held(t).String(), "  %n = const 1 : i32\n$1")
	for _, c := range []struct{ from, to, want string }{
		{`set_sum %sums\[31\]`, "set_sum %sums[32]", "element 32"},
		{`sums %sums: f32\[64\]`, "sums %sums: f32[72]", "want a multiple of 64"},
		{`(multiply_held .*), (%\w+) across_b`, "$1 across_b", "7 operands"},
		{`(multiply_held .*, )(%\w+) across_b`, "${1}%n across_b", "is of type i32, want u32"},
		{`await `, "%l = load %box[%n] : bf16\nawait ", "boxes are copied to %box"},
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

package kernel_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// warpSums is a kernel whose threads each get the sum of x over their warp.
func warpSums(t tester) *kernel.Kernel {
	return build(t, "warp_sums", []int{2 * kernel.Warp}, func(b *kernel.Builder) {
		x, y := b.Pointer("x", ir.I32), b.Pointer("y", ir.I32)
		sum := b.Load(x, b.Thread(0))
		for n := 1; n < kernel.Warp; n *= 2 {
			sum = b.Add(sum, b.Shuffle(sum, n))
		}
		b.Store(y, b.Thread(0), sum)
	})
}

func TestShuffle(t *testing.T) {
	k := parse(t, warpSums(t).String())
	x, y := make([]int32, 2*kernel.Warp), make([]int32, 2*kernel.Warp)
	var want [2]int32
	for i := range x {
		x[i] = int32(i*i + 1)
		want[i/kernel.Warp] += x[i]
	}
	for seed := range uint64(3) {
		if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Memory(x), kernel.Memory(y)}, kernel.Options{Seed: seed}); err != nil {
			t.Fatal(err)
		}
		for i, got := range y {
			if got != want[i/kernel.Warp] {
				t.Fatalf("thread %d has %d, want %d", i, got, want[i/kernel.Warp])
			}
		}
	}
}

// TestShuffleBetweenWarps runs a kernel whose second group of threads shuffles and whose first does not.
func TestShuffleBetweenWarps(t *testing.T) {
	k := build(t, "second", []int{2 * kernel.Group}, func(b *kernel.Builder) {
		y := b.Pointer("y", ir.I32)
		b.Do(b.Eq(b.Group(), b.Int(1)), func() { b.Store(y, b.Thread(0), b.Shuffle(b.Thread(0), 5)) })
	})
	y := make([]int32, 2*kernel.Group)
	if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Memory(y)}, kernel.Options{}); err != nil {
		t.Fatal(err)
	}
	for i, got := range y {
		if want := int32(i ^ 5); i >= kernel.Group && got != want || i < kernel.Group && got != 0 {
			t.Errorf("thread %d stores %d", i, got)
		}
	}
}

// TestShuffleMistakes asserts which shuffles the verifier refuses, and that the interpreter finds a thread that
// waits for the others of its warp.
func TestShuffleMistakes(t *testing.T) {
	text := warpSums(t).String()
	for _, c := range []struct{ from, to, want string }{
		{`by 1 `, "by 32 ", "want 1 to 31"},
		{`by 1 `, "by 0 ", "want 1 to 31"},
		{`block 64`, "block 48", "no whole warps"},
		{`(%\w+) = shuffle (%\w+) by 1 : i32`, "%c = convert $2 : i64\n%s = shuffle %c by 1 : i64\n$1 = convert %s : i32", "it does not move i64"},
		{`store .*`, "%five = const 5 : i32\n%b = lt %0, %five : bool\nif %b {\n%s = shuffle %0 by 1 : i32\nstore %y[%0], %s\n}", "between the threads of a warp"},
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

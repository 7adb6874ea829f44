package turns

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cuda/cudatest"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/templates/kernels"
)

// TestCard fills operands on the fake of CUDA, and measures a kernel there.
func TestCard(t *testing.T) {
	c, err := Open(cudatest.Driver())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const n = 1000
	for _, d := range []ir.DType{ir.F32, ir.F16, ir.BF16} {
		at, err := c.Fill("x", d, n, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, n*d.Size())
		if err := c.Queue.Download(got, at); err != nil {
			t.Fatal(err)
		}
		if err := c.Queue.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
		if string(got) != string(c.Host("x")) {
			t.Errorf("%s: the device has other bytes than the host", d)
		}
		square, number := 0.0, Numbers(d, got)
		for i := range n {
			square += number(i) * number(i)
		}
		if s := math.Sqrt(square / n); s < 0.45 || s > 0.55 {
			t.Errorf("%s: the deviation is %v, want 0.5", d, s)
		}
		if err := c.Poison(at, len(got)); err != nil {
			t.Fatal(err)
		}
		if err := c.Queue.Download(got, at); err != nil {
			t.Fatal(err)
		}
		if err := c.Queue.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if x := number(i); x == x {
				t.Fatalf("%s: element %d is %v, want NaN", d, i, x)
			}
		}
	}
	y := &ir.Value{Type: ir.StaticTensor(ir.F32, n)}
	l, err := kernels.Map("ones", []dim.Dim{dim.Const(n)}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		e.Write(y).Set(i, e.Float(ir.F32, 1))
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := ptx.Write(l.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	m, k, err := c.Load(l.Kernel, text, "")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	at, err := c.Fill("y", ir.F32, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, _ := dim.Ints(l.Grid[:])
	r, err := c.Record(3, func(q gpu.Queue) error { return q.Launch(k, [3]int(grid), []uint64{uint64(at)}) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if ms, err := r.Lap(1, 3); err != nil || !(ms > 0) {
		t.Errorf("a launch takes %v ms, %v", ms, err)
	}
	got := make([]byte, 4*n)
	if err := c.Queue.Download(got, at); err != nil {
		t.Fatal(err)
	}
	if err := c.Queue.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	if x := Numbers(ir.F32, got)(n - 1); x != 1 {
		t.Errorf("the last element is %v, want 1", x)
	}
}

// TestTorch asks a process that answers each line with numbers, and then with an error.
func TestTorch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the process is a script of the shell")
	}
	program := filepath.Join(t.TempDir(), "side")
	if err := os.WriteFile(program, []byte("read line; echo \"${#line} 0.5\"; read line; echo out of memory\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	side, err := Start("sh", program)
	if err != nil {
		t.Fatal(err)
	}
	var length int
	var ms float64
	if err := side.Ask("a question", &length, &ms); err != nil || length != 10 || ms != 0.5 {
		t.Errorf("the answer is %d %v, %v", length, ms, err)
	}
	for _, want := range []string{"PyTorch's side: out of memory", "PyTorch's side: EOF"} {
		if err := side.Ask("another", &ms); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "pipe") {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, x := range map[float64][]float64{0: nil, 2: {3, 1, 2}, 5: {1, 5}} {
		if got := Median(x); got != want {
			t.Errorf("Median(%v) = %v, want %v", x, got, want)
		}
	}
}

package profile

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/profile/stopwatch"
	"github.com/burngen/burngen/gen/program"
	targetcuda "github.com/burngen/burngen/gen/target/cuda"
	fakecuda "github.com/burngen/burngen/gen/target/cuda/cudatest/cuda"
	target "github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/gpu"
)

// onFake measures a function of x, f32[N,16], for N = 4 in a package for the fake of CUDA. It has a weight w.
func onFake(t *testing.T, body string) *Profile {
	t.Helper()
	m, err := ir.Parse(`
weight w : f32[16,16]

func @forward(%x: f32[N,16]) -> (y: f32[N,16]) {
  %w = load {name="w"} : f32[16,16]
`+body+`  return %y
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	m.Weight("w").Data = make([]byte, 4*16*16)
	to := targetcuda.Target()
	to.Driver, to.Precision = fakecuda.Path, target.TF32
	g, err := gen.FromModule("model", m, gen.Options{Target: to})
	if err != nil {
		t.Fatal(err)
	}
	inputs, shapes, err := Inputs(g.Forward.IR, nil, map[string]int{"N": 4})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Measure(t.Context(), g, Options{Inputs: inputs, Shapes: shapes, Time: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMeasureOnDevice measures launches on the clock of the fake, which gives a microsecond to each.
func TestMeasureOnDevice(t *testing.T) {
	p := onFake(t, `
  %h = mat_mul %x, %w : f32[N,16]  // first
  %k = relu %h : f32[N,16]  // kink
  %l = softmax %k {axis=1} : f32[N,16]  // last
  %m = mat_mul %l, %w : f32[N,16]  // second
  %y = relu %m : f32[N,16]  // end
`)
	text := regexp.MustCompile(`(?m)^[0-9.e-]+ ms  a call from slices to slices: median of \d+, 90 % within [0-9.e-]+ ms, least [0-9.e-]+ ms$`).ReplaceAllString(p.Text(0, false), "CALLS")
	text = regexp.MustCompile(`recorded: median of \d+`).ReplaceAllString(text, "recorded: median of N")
	if want := `cuda: Fake GPU 0, CUDA 13.0, products in tf32
CALLS
0.006 ms  the launches of a call on the device, recorded: median of N
32.0 GB/s  a copy on the device, bytes read and written
        µs      %   copy   GFLOP/s    GB/s  kernel: node
       2.0   33.2    5 %       2.1     1.5  product_relu: first, kink ×2 (fusion f32[N,16], f32[16,16] → f32[N,16])
       1.0   16.8    1 %               0.3  (to device): arguments, and results of the host
       1.0   16.8    1 %               0.3  (to host): results, and operands of the host
       1.0   16.6    1 %               0.3  softmax_sums: last (softmax f32[N,16] → f32[N,16])
       1.0   16.6    2 %               0.5  softmax: last (softmax f32[N,16] → f32[N,16])
rows are measured without the recording; readings of the clock between the launches add 0 ms to a call
`; text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if p.Calls < 11 || p.Least <= 0 || p.Median < p.Least || p.Most < p.Median {
		t.Errorf("%d calls, least %v, median %v, 90 %% within %v", p.Calls, p.Least, p.Median, p.Most)
	}
	for _, want := range []string{"Fake GPU 0", "copy on the device 32.0 GB/s"} {
		if svg := string(p.Roofline()); !strings.Contains(svg, want) {
			t.Errorf("%q is not in\n%s", want, svg)
		}
	}
}

// TestMeasureHostBesideDevice measures a node that the host computes, with the copies before and after it.
func TestMeasureHostBesideDevice(t *testing.T) {
	p := onFake(t, `
  %h = mat_mul %x, %w : f32[N,16]  // first
  %nodes = constant {value=i32[1,3](0,-1,-2)} : i32[1,3]
  %thresholds = constant {value=f32[1](0.5)} : f32[1]
  %roots = constant {value=i32[1](0)} : i32[1]
  %k = tree_ensemble %h, %nodes, %thresholds, %roots, _, _, %w {aggregate="sum" features=16 targets=16} : f32[N,16]  // trees
  %y = softmax %k {axis=1} : f32[N,16]  // last
`)
	if p.Device.Replays != 0 || p.Device.Recorded != 0 {
		t.Errorf("%d calls are recorded", p.Device.Replays)
	}
	byName := map[string]Node{}
	for _, n := range p.Nodes {
		if !n.onDevice() {
			byName[n.Kernel] = n
		}
	}
	const tensor = 4 * 4 * 16
	if n := byName["(host)"]; n.Name != "trees" || n.Op != "tree_ensemble" || n.Time <= 0 || n.Runs != 1 {
		t.Errorf("%+v", n)
	}
	if n := byName["(to device)"]; n.Bytes != 2*tensor || n.Runs != 2 || n.Time < 2*time.Microsecond || n.Time > 3*time.Microsecond {
		t.Errorf("%+v", n)
	}
	if n := byName["(to host)"]; n.Bytes < 2*tensor || n.Runs < 2 {
		t.Errorf("%+v", n)
	}
	if text := p.Text(0, false); !strings.Contains(text, "one by one: the host takes part in a call\n") || strings.Contains(text, "without the recording") {
		t.Error(text)
	}
}

// TestDescribe attributes work to launches. Known are the work of a node with one kernel, and the operands of a launch.
func TestDescribe(t *testing.T) {
	n := dim.Sym("N")
	x, w := &ir.Value{Name: "x", Type: ir.TensorOf(ir.F32, n, dim.Const(8))}, &ir.Value{Name: "w", Type: ir.TensorOf(ir.F32, dim.Const(8), dim.Const(2))}
	y := &ir.Value{Name: "y", Type: ir.TensorOf(ir.F32, n, dim.Const(2))}
	product := func() *ir.Node {
		return &ir.Node{Op: op.MatMul{}, Args: []*ir.Value{x, w}, Results: []*ir.Value{y}, Pos: "product"}
	}
	ref := func(v *ir.Value, access plan.Access, elems dim.Dim) *plan.Ref {
		return &plan.Ref{Value: v, Access: access, DType: ir.F32, Len: elems}
	}
	launch := func(node *ir.Node) *target.Launch {
		a := ref(x, plan.Read, n.Mul(dim.Const(8)))
		return &target.Launch{Node: node, Args: []any{a, a, ref(y, plan.Write, n.Mul(dim.Const(2)))}}
	}
	one, two, rounds, open := product(), product(), product(), product()
	steps := []program.Step{
		launch(one), launch(two), launch(two),
		&target.Rounds{Node: rounds, Count: n, Launches: []*target.Launch{launch(rounds)}},
		&target.Rounds{Node: open, Count: dim.Sym("unknown"), Launches: []*target.Launch{launch(open)}},
		&program.Copy{},
	}
	p := &Profile{}
	laps := []stopwatch.Lap{
		{Work: gpu.Launched, Kernel: "a", Step: 0, Runs: 2, Time: 5},
		{Work: gpu.Launched, Kernel: "b", Step: 1, Runs: 3},
		{Work: gpu.Launched, Kernel: "c", Step: 3, Runs: 4},
		{Work: gpu.Launched, Kernel: "d", Step: 3, Runs: 5},
		{Work: gpu.Launched, Kernel: "e", Step: 4, Runs: 4},
		{Work: gpu.Copied, Step: 5, Runs: 1, Bytes: 10},
		{Work: gpu.Hosted, Step: 5, Runs: 1},
	}
	d := deviceWork{symbols: map[string]int64{"N": 4}, launches: map[*ir.Node]int{}}
	for _, s := range steps {
		d.launches[s.At()] += len(target.LaunchesOf(s))
	}
	for _, l := range laps {
		p.Nodes = append(p.Nodes, d.describe(l, steps))
	}
	const flops, all, operands = 2 * 4 * 8 * 2, 4 * (4*8 + 8*2 + 4*2), 4 * (4*8 + 4*2)
	for i, want := range []Node{
		{Kernel: "a", Flops: 2 * flops, Bytes: 2 * all, Runs: 2},
		{Kernel: "b", Bytes: 3 * operands, Runs: 3},
		{Kernel: "c", Flops: flops, Bytes: all, Runs: 4},
		{Kernel: "d", Runs: 5},
		{Kernel: "e", Runs: 4},
		{Kernel: "(copy)", Bytes: 20, Runs: 1},
		{Kernel: "(host)", Runs: 1},
	} {
		got := p.Nodes[i]
		if got.Kernel != want.Kernel || got.Flops != want.Flops || got.Bytes != want.Bytes || got.Runs != want.Runs {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestTextWithoutClock prints the times of calls, and why there are no others.
func TestTextWithoutClock(t *testing.T) {
	p := &Profile{Calls: 11, Median: 3e6, Least: 2e6, Most: 4e6, Device: &Device{Target: "vulkan", Precision: "f32", Name: "card", Driver: "1", NoClock: "no bits"}}
	want := `vulkan: card, 1, products in f32
3 ms  a call from slices to slices: median of 11, 90 % within 4 ms, least 2 ms
times on the device are not known: no bits
`
	if got := p.Text(0, false); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if !strings.Contains(string(p.Roofline()), "card") {
		t.Error("the roofline does not name the device")
	}
}

// Command attention compares burngen's pipelined attention kernels with PyTorch's back ends on the first NVIDIA card.
// They take turns in one run. It checks rows of burngen's results against attention in float64.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/templates/kernels"
)

var (
	python = flag.String("python", "", "compare with PyTorch, which the Python called `NAME` has")
	side   = flag.String("side", "torch_side.py", "the program of PyTorch's side")
	rounds = flag.Int("rounds", 5, "rounds, in which the sides take turns")
	code   = flag.String("ptx", "", "write the kernels into `FOLDER`, and do not run them")
	tries  = flag.String("tiles", "", "tiles to try, GROUPSxKEYSxSTAGESxTURNSxBLOCKSxMEGABYTES, separated by commas, in place of the table")
	logs   = flag.Bool("log", false, "print what the compiler says about kernels")
)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// attention describes an attention. Queries, keys and values have the same number of rows, and are stored as
// [batch,rows,heads,width].
type attention struct {
	batch, heads, keyHeads, rows, width int
	d                                   ir.DType
	causal                              bool
	warps                               bool // use the kernel for devices that do not run pipelined kernels
}

// parse reads an attention such as 4x32x2048x128:bf16:causal:g8: batch 4, 32 heads, 2048 rows,
// width 128, and 8 heads of keys and values. The suffix "warps" selects the kernel for devices that
// do not run pipelined kernels.
func parse(text string) (attention, error) {
	a := attention{d: ir.BF16}
	parts := strings.Split(text, ":")
	if _, err := fmt.Sscanf(parts[0], "%dx%dx%dx%d", &a.batch, &a.heads, &a.rows, &a.width); err != nil {
		return a, fmt.Errorf("%q: %w", text, err)
	}
	a.keyHeads = a.heads
	for _, part := range parts[1:] {
		var err error
		switch {
		case part == "causal":
			a.causal = true
		case part == "warps":
			a.warps = true
		case strings.HasPrefix(part, "g"):
			_, err = fmt.Sscanf(part, "g%d", &a.keyHeads)
		default:
			a.d, err = ir.ParseDType(part)
		}
		if err != nil {
			return a, fmt.Errorf("%q: %w", text, err)
		}
	}
	return a, nil
}

func (a attention) String() string {
	text := fmt.Sprintf("%dx%dx%dx%d:%s", a.batch, a.heads, a.rows, a.width, a.d)
	if a.causal {
		text += ":causal"
	}
	if a.keyHeads != a.heads {
		text += fmt.Sprintf(":g%d", a.keyHeads)
	}
	if a.warps {
		text += ":warps"
	}
	return text
}

func (a attention) flops() float64 {
	n := 4 * float64(a.batch) * float64(a.heads) * float64(a.rows) * float64(a.rows) * float64(a.width)
	if a.causal {
		n /= 2
	}
	return n
}

func (a attention) scale() float64 { return 1 / math.Sqrt(float64(a.width)) }

// attention returns a as a [kernels.Attention].
func (a attention) attention() kernels.Attention {
	rows := func(heads int) kernels.HeadRows {
		v := &ir.Value{Type: ir.TensorOf(a.d, dim.Const(a.batch), dim.Const(a.rows), dim.Const(heads*a.width))}
		return kernels.HeadRows{Value: v, Outer: a.batch, Rows: a.rows, Columns: heads * a.width, BatchOuter: 1, HeadColumns: a.width}
	}
	y := &ir.Value{Type: ir.TensorOf(a.d, dim.Const(a.batch), dim.Const(a.rows), dim.Const(a.heads*a.width))}
	after := -1
	if a.causal {
		after = 0
	}
	return kernels.Attention{
		Batch: a.batch, Heads: a.heads, KeyHeads: a.keyHeads, Queries: a.rows, Keys: a.rows, Width: a.width, Matrix: a.d,
		Q: rows(a.heads), K: rows(a.keyHeads), V: rows(a.keyHeads), Scale: a.scale(), Before: -1, After: after,
		Store: func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
			i := e.Add(e.Mul(at.Batch, e.Int(a.rows)), at.Query)
			i = e.Add(e.Mul(i, e.Int(a.heads)), at.Head)
			e.Write(y).Set(e.Add(e.Mul(i, e.Int(a.width)), column), x)
		},
	}
}

func (a attention) launch(t kernels.AttentionTiles) (kernels.Launch, error) {
	p := a.attention()
	if !a.warps {
		return kernels.PipelinedAttention("attend", p, t)
	}
	rows := func(r kernels.HeadRows, place func(at kernels.Attending) (head, row *kernel.Value)) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
		return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
			head, row := place(at)
			i := e.Mul(e.Add(e.Mul(at.Batch, e.Int(r.Rows)), row), e.Int(r.Columns))
			return e.LoadN(e.Read(r.Value).Pointer(), e.Add(e.Add(i, e.Mul(head, e.Int(r.HeadColumns))), element), n)
		}
	}
	key := func(at kernels.Attending) (head, row *kernel.Value) { return at.Group, at.Key }
	return kernels.WarpAttention("attend", kernels.Attended{
		Batch: dim.Const(p.Batch), Heads: dim.Const(p.Heads), Queries: dim.Const(p.Queries), Keys: dim.Const(p.Keys), Shared: dim.Const(p.Heads / p.KeyHeads),
		Depth: p.Width, Width: p.Width, Matrix: p.Matrix, Scale: p.Scale, Before: p.Before, After: p.After, Store: p.Store,
		Query: rows(p.Q, func(at kernels.Attending) (head, row *kernel.Value) { return at.Head, at.Query }), Key: rows(p.K, key), Value: rows(p.V, key),
	})
}

// sides holds the device, the memory of operands by name, and the process of PyTorch.
type sides struct {
	device gpu.Opened
	queue  gpu.Timed
	memory map[string]gpu.Address
	host   map[string][]byte
	torch  *bufio.ReadWriter
}

func tilesOf(a attention) ([]kernels.AttentionTiles, error) {
	if *tries == "" || a.warps {
		return []kernels.AttentionTiles{kernels.AttentionTilesOf(a.attention())}, nil
	}
	var list []kernels.AttentionTiles
	for _, text := range strings.Split(*tries, ",") {
		var t kernels.AttentionTiles
		turns := 0
		if _, err := fmt.Sscanf(text, "%dx%dx%dx%dx%dx%d", &t.Groups, &t.Keys, &t.Stages, &turns, &t.Blocks, &t.Cache); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		t.Turns, t.Cache = turns != 0, t.Cache<<20
		list = append(list, t)
	}
	return list, nil
}

func run(args []string) error {
	var all []attention
	for _, text := range args {
		a, err := parse(text)
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	if *code != "" {
		return write(all)
	}
	device, err := cuda.Driver().Open(0)
	if err != nil {
		return err
	}
	defer device.Close()
	queue, err := device.Queue()
	if err != nil {
		return err
	}
	timed, ok := queue.(gpu.Timed)
	if !ok {
		return gpu.ErrNoClock
	}
	s := &sides{device: device, queue: timed, memory: map[string]gpu.Address{}, host: map[string][]byte{}}
	fmt.Printf("%s, driver %s\n", device.Info().Name, device.Info().Driver)
	if *python != "" {
		if err := s.start(); err != nil {
			return err
		}
	}
	for _, a := range all {
		list, err := tilesOf(a)
		if err != nil {
			return err
		}
		if err := s.compare(a, list); err != nil {
			fmt.Printf("FAIL %s: %v\n", a, err)
		}
	}
	return nil
}

func write(all []attention) error {
	for _, a := range all {
		list, err := tilesOf(a)
		if err != nil {
			return err
		}
		for _, t := range list {
			l, err := a.launch(t)
			if err != nil {
				return err
			}
			text, err := ptx.Write(l.Kernel)
			if err != nil {
				return err
			}
			name := strings.NewReplacer(":", "_", "{", "", "}", "", " ", "_").Replace(fmt.Sprintf("%s_%v.ptx", a, t))
			if err := os.WriteFile(filepath.Join(*code, name), []byte(text), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sides) start() error {
	c := exec.Command(*python, *side)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	s.torch = bufio.NewReadWriter(bufio.NewReader(out), bufio.NewWriter(in))
	return c.Start()
}

// backends are the back ends of PyTorch's scaled_dot_product_attention.
var backends = []string{"flash", "cudnn", "efficient"}

// ask returns the milliseconds of PyTorch's attention with each of [backends]. The time of a back end that refuses the
// attention is 0.
func (s *sides) ask(a attention) (ms [3]float64, err error) {
	fmt.Fprintf(s.torch, "%d %d %d %d %d %s %t\n", a.batch, a.heads, a.keyHeads, a.rows, a.width, a.d, a.causal)
	if err := s.torch.Flush(); err != nil {
		return ms, err
	}
	line, err := s.torch.ReadString('\n')
	if err != nil {
		return ms, fmt.Errorf("PyTorch's side: %w", err)
	}
	_, err = fmt.Sscan(line, &ms[0], &ms[1], &ms[2])
	return ms, err
}

// fill writes n normally distributed elements of type d to the device memory of the operand called name. It returns the
// address of the memory.
func (s *sides) fill(name string, d ir.DType, n int) (gpu.Address, error) {
	bytes := n * d.Size()
	if len(s.host[name]) != bytes {
		s.device.Free(s.memory[name])
		at, err := s.device.Alloc(int64(bytes))
		if err != nil {
			return 0, err
		}
		s.memory[name], s.host[name] = at, make([]byte, bytes)
	}
	seed := fnv.New64a() // of the name, so that operands of equal size differ
	io.WriteString(seed, name)
	r := rand.New(rand.NewPCG(1, seed.Sum64()))
	const period = 1<<20 - 3
	x := ir.NewTensor(d, min(n, period))
	for i := range x.Len() {
		x.SetFloat(i, r.NormFloat64())
	}
	for at := 0; at < bytes; at += copy(s.host[name][at:], x.Bytes()) {
	}
	return s.memory[name], s.queue.Upload(s.memory[name], s.host[name])
}

// numbers returns a function that returns element i of data as a float64. d, the type of the elements, is f16 or bf16.
func numbers(d ir.DType, data []byte) func(i int) float64 {
	if d == ir.F16 {
		x := unsafe.Slice((*rt.Float16)(unsafe.Pointer(&data[0])), len(data)/2)
		return func(i int) float64 { return float64(x[i].Float32()) }
	}
	x := unsafe.Slice((*rt.BFloat16)(unsafe.Pointer(&data[0])), len(data)/2)
	return func(i int) float64 { return float64(x[i].Float32()) }
}

type prepared struct {
	attention
	kernel gpu.Kernel
	module gpu.Module
	grid   [3]int
	args   []uint64
	y      []byte // the result
	at     gpu.Address
	graph  gpu.Graph
	count  int // launches in the graph
}

// prepare compiles an attention, fills its operands, and fills its result with NaN.
func (s *sides) prepare(a attention, t kernels.AttentionTiles) (*prepared, error) {
	l, err := a.launch(t)
	if err != nil {
		return nil, err
	}
	text, err := ptx.Write(l.Kernel)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	m, err := s.device.Load([]byte(text))
	if err != nil {
		return nil, err
	}
	if logged, ok := m.(interface{ Log() string }); ok && *logs {
		fmt.Printf("%s %+v, compiled in %v:\n%s\n", a, t, time.Since(start).Round(time.Millisecond), logged.Log())
	}
	info := gpu.KernelInfo{Name: l.Kernel.Name, Block: l.Kernel.Block, Args: len(l.Kernel.Params), Shared: ptx.Dynamic(l.Kernel)}
	for i, v := range l.Kernel.Params {
		if v.Map != nil {
			info.Maps = append(info.Maps, gpu.Map{Arg: i, Type: v.Type.DType.String(), Extents: v.Map.Extents, Box: v.Map.Box})
		}
	}
	k, err := m.Kernel(info)
	if err != nil {
		return nil, err
	}
	grid, _ := dim.Ints(l.Grid[:])
	n := a.batch * a.rows * a.width
	out := &prepared{attention: a, kernel: k, module: m, grid: [3]int(grid), y: make([]byte, n*a.heads*a.d.Size())}
	for i, name := range []string{"q", "k", "v", "y"} {
		at, err := s.fill(name, a.d, n*[]int{a.heads, a.keyHeads, a.keyHeads, a.heads}[i])
		if err != nil {
			return nil, err
		}
		out.args = append(out.args, uint64(at))
		out.at = at
	}
	poison := make([]byte, len(out.y))
	for i := range poison {
		poison[i] = 0xff
	}
	if err := s.queue.Upload(out.at, poison); err != nil {
		return nil, err
	}
	return out, s.queue.Wait(context.Background())
}

// result computes the attention once, into p.y.
func (s *sides) result(p *prepared) error {
	if err := s.queue.Launch(p.kernel, p.grid, p.args); err != nil {
		return err
	}
	if err := s.queue.Download(p.y, p.at); err != nil {
		return err
	}
	return s.queue.Wait(context.Background())
}

// verify compares some rows of the result with sums in float64. It returns the norm of the difference relative to the
// norm of the result. It returns an error if two runs give different results.
func (s *sides) verify(p *prepared) (float64, error) {
	if err := s.result(p); err != nil {
		return 0, err
	}
	first := slices.Clone(p.y)
	if err := s.result(p); err != nil {
		return 0, err
	}
	if !slices.Equal(first, p.y) {
		return 0, fmt.Errorf("the result changes from run to run")
	}
	q, k, v, y := numbers(p.d, s.host["q"]), numbers(p.d, s.host["k"]), numbers(p.d, s.host["v"]), numbers(p.d, p.y)
	for i := range p.batch * p.rows * p.heads * p.width {
		if x := y(i); x != x {
			return 0, fmt.Errorf("element %d is %v", i, x)
		}
	}
	var off, norm float64
	for _, head := range spread(p.batch*p.heads, 4) {
		b, h := head/p.heads, head%p.heads
		g := h / (p.heads / p.keyHeads)
		for _, m := range spread(p.rows, 24) {
			keys := p.rows
			if p.causal {
				keys = m + 1
			}
			want, total := make([]float64, p.width), 0.0
			from := ((b*p.rows+m)*p.heads + h) * p.width
			for n := range keys {
				at, score := ((b*p.rows+n)*p.keyHeads+g)*p.width, 0.0
				for e := range p.width {
					score += q(from+e) * k(at+e)
				}
				w := math.Exp(score * p.scale())
				total += w
				for e := range p.width {
					want[e] += w * v(at+e)
				}
			}
			for e := range p.width {
				x := want[e] / total
				off += (y(from+e) - x) * (y(from+e) - x)
				norm += x * x
			}
		}
	}
	return math.Sqrt(off / norm), nil
}

// spread returns about `most` indices below n at equal distances, and n−1.
func spread(n, most int) []int {
	var list []int
	for i := 0; i < n; i++ {
		if i%max(n/most, 1) == 0 || i == n-1 {
			list = append(list, i)
		}
	}
	return list
}

// record makes a graph of launches that take about 8 ms together at 500 TFLOP/s: 2 to 400 launches.
func (s *sides) record(p *prepared) (err error) {
	p.count = int(min(max(0.008*500e12/p.flops(), 2), 400))
	p.graph, err = s.queue.Record(func(q gpu.Queue) error {
		for range p.count {
			if err := q.Launch(p.kernel, p.grid, p.args); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// lap returns the milliseconds of one launch. It replays the graph five times, leaves out the first replay, and returns
// the median.
func (s *sides) lap(p *prepared) (float64, error) {
	var laps []float64
	for range 5 {
		for _, do := range []func() error{s.queue.Stamp, func() error { return s.queue.Replay(p.graph) }, s.queue.Stamp} {
			if err := do(); err != nil {
				return 0, err
			}
		}
		stamps, err := s.queue.Stamps()
		if err != nil {
			return 0, err
		}
		laps = append(laps, stamps[1].Seconds()*1e3/float64(p.count))
	}
	return median(laps[1:]), nil
}

// compare prints the times of an attention with each choice of tiles in `list`, and of PyTorch's back ends. They take
// turns in each round.
func (s *sides) compare(a attention, list []kernels.AttentionTiles) error {
	var all []*prepared
	ours := make([][]float64, len(list))
	off := make([]float64, len(list))
	for i, t := range list {
		p, err := s.prepare(a, t)
		if err != nil {
			return fmt.Errorf("%+v: %w", t, err)
		}
		defer p.module.Close()
		if off[i], err = s.verify(p); err != nil {
			return fmt.Errorf("%+v: %w", t, err)
		}
		if err := s.record(p); err != nil {
			return err
		}
		defer p.graph.Close()
		all = append(all, p)
	}
	var torch [3][]float64
	for range *rounds {
		for i, p := range all {
			ms, err := s.lap(p)
			if err != nil {
				return err
			}
			ours[i] = append(ours[i], ms)
		}
		if s.torch != nil {
			ms, err := s.ask(a)
			if err != nil {
				return err
			}
			for i, x := range ms {
				torch[i] = append(torch[i], x)
			}
		}
	}
	rate := func(ms float64) float64 { return a.flops() / ms / 1e9 }
	others, best := "", 0.0
	for i, list := range torch {
		if ms := median(list); ms > 0 {
			others += fmt.Sprintf(" | %s %.1f", backends[i], rate(ms))
			best = max(best, rate(ms))
		}
	}
	for i, t := range list {
		r := rate(median(ours[i]))
		if a.warps {
			t = kernels.AttentionTiles{Groups: 1, Keys: 64, Stages: 1}
		}
		line := fmt.Sprintf("%-30s %dx%dx%d: %8.4f ms %6.1f TFLOP/s, error %.1e", a, 64*t.Groups, t.Keys, t.Stages, median(ours[i]), r, off[i])
		if *tries != "" {
			line += fmt.Sprintf(" %+v", t)
		}
		if best > 0 {
			line += fmt.Sprintf("%s | ratio %.3f", others, r/best)
		}
		fmt.Println(line)
	}
	return nil
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// Command attention compares burngen's pipelined attention kernels with PyTorch's back ends on the first NVIDIA card.
// burngen and PyTorch take turns in one run. Rows of burngen's results are checked against attention in float64.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/bench/gpu/turns"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/templates/kernels"
)

var (
	python   = flag.String("python", "", "compare with PyTorch, which the Python called `NAME` has")
	side     = flag.String("side", "torch_side.py", "the program of PyTorch's side")
	rounds   = flag.Int("rounds", 5, "rounds, in which the sides take turns")
	code     = flag.String("ptx", "", "write the kernels into `FOLDER`, and do not run them")
	tries    = flag.String("tiles", "", "tiles to try, GROUPSxKEYSxSTAGESxTURNSxBLOCKSxMEGABYTES, separated by commas, in place of the table")
	backward = flag.String("backward", "", "tiles to try for gradients, GROUPSxCOLUMNSxSTAGESxBLOCKSxMEGABYTES of queries / of keys, separated by commas")
	logs     = flag.Bool("log", false, "print what the compiler says about kernels")
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
	trains                              bool // compute the gradients too
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
		case part == "grad":
			a.trains = true
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
	if a.trains {
		text += ":grad"
	}
	return text
}

func (a attention) flops() float64 {
	n := 4 * float64(a.batch) * float64(a.heads) * float64(a.rows) * float64(a.rows) * float64(a.width)
	if a.causal {
		n /= 2
	}
	if a.trains { // five products in place of two
		n *= 3.5
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
	return a.with(a.attention(), t)
}

// with returns the launch of p, which describes a.
func (a attention) with(p kernels.Attention, t kernels.AttentionTiles) (kernels.Launch, error) {
	if a.warps {
		return kernels.WarpAttention("attend", byWarps(p))
	}
	return kernels.PipelinedAttention("attend", p, t)
}

// byWarps describes p to kernels of warps.
func byWarps(p kernels.Attention) kernels.Attended {
	rows := func(r kernels.HeadRows, place func(at kernels.Attending) (head, row *kernel.Value)) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
		return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
			head, row := place(at)
			i := e.Mul(e.Add(e.Mul(at.Batch, e.Int(r.Rows)), row), e.Int(r.Columns))
			return e.LoadN(e.Read(r.Value).Pointer(), e.Add(e.Add(i, e.Mul(head, e.Int(r.HeadColumns))), element), n)
		}
	}
	key := func(at kernels.Attending) (head, row *kernel.Value) { return at.Group, at.Key }
	return kernels.Attended{
		Batch: dim.Const(p.Batch), Heads: dim.Const(p.Heads), Queries: dim.Const(p.Queries), Keys: dim.Const(p.Keys), Shared: dim.Const(p.Heads / p.KeyHeads),
		Depth: p.Width, Width: p.Width, Matrix: p.Matrix, Scale: p.Scale, Before: p.Before, After: p.After, Store: p.Store, StoreSum: p.StoreSum,
		Query: rows(p.Q, func(at kernels.Attending) (head, row *kernel.Value) { return at.Head, at.Query }), Key: rows(p.K, key), Value: rows(p.V, key),
	}
}

// sides holds the card and the process of PyTorch. Without -python, torch is nil.
type sides struct {
	*turns.Card
	torch *turns.Torch
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
	card, err := turns.Open(cuda.Driver())
	if err != nil {
		return err
	}
	defer card.Close()
	s := &sides{Card: card}
	fmt.Printf("%s, driver %s\n", card.Device.Info().Name, card.Device.Info().Driver)
	if *python != "" {
		if s.torch, err = turns.Start(*python, *side); err != nil {
			return err
		}
	}
	for _, a := range all {
		if a.trains {
			if err := s.compareGradients(a); err != nil {
				fmt.Printf("FAIL %s: %v\n", a, err)
			}
			continue
		}
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

// backends are the back ends of PyTorch's scaled_dot_product_attention.
var backends = []string{"flash", "cudnn", "efficient"}

// ask returns the milliseconds of PyTorch's attention with each of [backends]. The time of a back end that refuses the
// attention is 0.
func (s *sides) ask(a attention) (ms [3]float64, err error) {
	line := fmt.Sprintf("%d %d %d %d %d %s %t %t", a.batch, a.heads, a.keyHeads, a.rows, a.width, a.d, a.causal, a.trains)
	err = s.torch.Ask(line, &ms[0], &ms[1], &ms[2])
	return ms, err
}

// theirs returns the rates of PyTorch's back ends as text, and the best of them. torch holds the milliseconds that
// were measured with each back end. rate converts milliseconds to a rate. best is 0 if no back end computed the
// attention.
func theirs(torch [3][]float64, rate func(ms float64) float64) (text string, best float64) {
	for i, list := range torch {
		if ms := turns.Median(list); ms > 0 {
			text += fmt.Sprintf(" | %s %.1f", backends[i], rate(ms))
			best = max(best, rate(ms))
		}
	}
	return text, best
}

type prepared struct {
	attention
	kernel gpu.Kernel
	module gpu.Module
	grid   [3]int
	args   []uint64
	y      []byte // the result
	at     gpu.Address
	// recording has launches that take about 8 ms together at 500 TFLOP/s: 2 to 400 launches.
	recording *turns.Recording
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
	label := ""
	if *logs {
		label = fmt.Sprintf("%s %+v", a, t)
	}
	m, k, err := s.Load(l.Kernel, text, label)
	if err != nil {
		return nil, err
	}
	grid, _ := dim.Ints(l.Grid[:])
	n := a.batch * a.rows * a.width
	out := &prepared{attention: a, kernel: k, module: m, grid: [3]int(grid), y: make([]byte, n*a.heads*a.d.Size())}
	for i, name := range []string{"q", "k", "v", "y"} {
		at, err := s.Fill(name, a.d, n*[]int{a.heads, a.keyHeads, a.keyHeads, a.heads}[i], 1)
		if err != nil {
			return nil, err
		}
		out.args = append(out.args, uint64(at))
		out.at = at
	}
	if err := s.Poison(out.at, len(out.y)); err != nil {
		return nil, err
	}
	return out, s.Queue.Wait(context.Background())
}

// result computes the attention once, into p.y.
func (s *sides) result(p *prepared) error {
	if err := s.Queue.Launch(p.kernel, p.grid, p.args); err != nil {
		return err
	}
	if err := s.Queue.Download(p.y, p.at); err != nil {
		return err
	}
	return s.Queue.Wait(context.Background())
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
	q, k, v, y := turns.Numbers(p.d, s.Host("q")), turns.Numbers(p.d, s.Host("k")), turns.Numbers(p.d, s.Host("v")), turns.Numbers(p.d, p.y)
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

// spread returns n−1 and about `most` other indices below n, at equal distances.
func spread(n, most int) []int {
	var list []int
	for i := 0; i < n; i++ {
		if i%max(n/most, 1) == 0 || i == n-1 {
			list = append(list, i)
		}
	}
	return list
}

// compare prints the times of attention `a` with each choice of tiles in `list`, and the times of PyTorch's back
// ends. All of them run in each round.
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
		launches := int(min(max(0.008*500e12/a.flops(), 2), 400))
		p.recording, err = s.Record(launches, func(q gpu.Queue) error { return q.Launch(p.kernel, p.grid, p.args) })
		if err != nil {
			return err
		}
		defer p.recording.Close()
		all = append(all, p)
	}
	var torch [3][]float64
	for range *rounds {
		for i, p := range all {
			ms, err := p.recording.Lap(1, 4)
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
	others, best := theirs(torch, rate)
	for i, t := range list {
		r := rate(turns.Median(ours[i]))
		if a.warps {
			t = kernels.AttentionTiles{Groups: 1, Keys: 64, Stages: 1}
		}
		line := fmt.Sprintf("%-30s %dx%dx%d: %8.4f ms %6.1f TFLOP/s, error %.1e", a, 64*t.Groups, t.Keys, t.Stages, turns.Median(ours[i]), r, off[i])
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

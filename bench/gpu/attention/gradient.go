package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/burngen/burngen/bench/gpu/turns"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/templates/kernels"
)

// training is an attention with its backward pass on the card.
type training struct {
	attention
	tiles    [2]kernels.GradientTiles // that were asked for
	memory   map[any]gpu.Address      // of values and scratch memory
	bytes    map[any]int
	names    map[string]any // of the memory
	launches []launched
}

// launched is a launch that is ready.
type launched struct {
	name   string
	module gpu.Module
	kernel gpu.Kernel
	grid   [3]int
	args   []uint64
}

func (t *training) launch(q gpu.Queue) error {
	for _, l := range t.launches {
		if err := q.Launch(l.kernel, l.grid, l.args); err != nil {
			return err
		}
	}
	return nil
}

func (a attention) index(e *kernels.Emitter, heads int, batch, row, head *kernel.Value) *kernel.Value {
	return e.Mul(e.Add(e.Mul(e.Add(e.Mul(batch, e.Int(a.rows)), row), e.Int(heads)), head), e.Int(a.width))
}

// add loads a launch.
func (s *sides) add(t *training, name string, l kernels.Launch, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text, err := ptx.Write(l.Kernel)
	if err != nil {
		return err
	}
	label := ""
	if *logs {
		label = fmt.Sprintf("%s, %s", t, name)
	}
	m, k, err := s.Load(l.Kernel, text, label)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	grid, _ := dim.Ints(l.Grid[:])
	out := launched{name: name, module: m, kernel: k, grid: [3]int(grid)}
	for _, a := range l.Args {
		var key any
		var typ ir.Type
		switch {
		case a.Read != nil:
			key, typ = a.Read, a.Read.Type
		case a.Write != nil:
			key, typ = a.Write, a.Write.Type
		case a.Scratch != nil:
			key, typ = a.Scratch, ir.TensorOf(a.Scratch.DType, a.Scratch.Shape...)
		}
		if t.memory[key] == 0 {
			n, _ := typ.Elems().Int()
			t.bytes[key] = n * typ.DType.Size()
			if t.memory[key], err = s.Device.Alloc(int64(t.bytes[key])); err != nil {
				return err
			}
			if err := s.Poison(t.memory[key], t.bytes[key]); err != nil {
				return err
			}
		}
		out.args = append(out.args, uint64(t.memory[key]))
	}
	t.launches = append(t.launches, out)
	return nil
}

func (s *sides) close(t *training) {
	for _, l := range t.launches {
		l.module.Close()
	}
	for key, at := range t.memory {
		if t.bytes[key] > 0 {
			s.Device.Free(at)
		}
	}
}

// train prepares the forward and the backward pass of an attention.
func (s *sides) train(a attention, tiles [2]kernels.GradientTiles) (*training, error) {
	t := &training{attention: a, tiles: tiles, memory: map[any]gpu.Address{}, bytes: map[any]int{}, names: map[string]any{}}
	p := a.attention()
	tensor := func(name string, d ir.DType, heads int) *ir.Value {
		v := &ir.Value{Type: ir.TensorOf(d, dim.Consts(a.batch, a.rows, heads*a.width)...)}
		t.names[name] = v
		return v
	}
	dy, y := tensor("dy", a.d, a.heads), tensor("y", a.d, a.heads)
	dq, dk, dv := tensor("dq", a.d, a.heads), tensor("dk", a.d, a.keyHeads), tensor("dv", a.d, a.keyHeads)
	sums := &ir.Value{Type: ir.TensorOf(ir.F32, dim.Consts(a.batch, a.heads, a.rows)...)}
	t.names["sums"] = sums
	for i, v := range []*ir.Value{p.Q.Value, p.K.Value, p.V.Value, dy} {
		heads := []int{a.heads, a.keyHeads, a.keyHeads, a.heads}[i]
		at, err := s.Fill([]string{"q", "k", "v", "dy"}[i], a.d, a.batch*a.rows*heads*a.width, 1)
		if err != nil {
			return nil, err
		}
		t.memory[v] = at
	}
	sum := func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
		return e.Add(e.Mul(e.Add(e.Mul(at.Batch, e.Int(a.heads)), at.Head), e.Int(a.rows)), at.Query)
	}
	query := func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
		return a.index(e, a.heads, at.Batch, at.Query, at.Head)
	}
	key := func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
		return a.index(e, a.keyHeads, at.Batch, at.Key, at.Group)
	}
	store := func(y *ir.Value, index func(e *kernels.Emitter, at kernels.Attending) *kernel.Value) func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
		return func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
			e.Write(y).Set(e.Add(index(e, at), column), x)
		}
	}
	load := func(v *ir.Value) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value) []*kernel.Value {
		return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value) []*kernel.Value {
			return e.LoadN(e.Read(v).Pointer(), e.Add(query(e, at), element), 8)
		}
	}
	p.Store = store(y, query)
	p.StoreSum = func(e *kernels.Emitter, at kernels.Attending, top, total *kernel.Value) {
		e.Write(sums).Set(sum(e, at), e.Add(top, elementary.Log(e.Builder, total)))
	}
	g := kernels.AttentionGradient{Attention: p, DY: p.Q, Moments: kernels.MomentsOf(dim.Const(a.batch), dim.Const(a.heads), dim.Const(a.rows))}
	g.DY.Value = dy
	g.StoreQuery, g.StoreKey, g.StoreValue = store(dq, query), store(dk, key), store(dv, key)
	l, err := a.with(p, kernels.AttentionTilesOf(p))
	if err := s.add(t, "forward", l, err); err != nil {
		return nil, err
	}
	l, err = kernels.AttentionMoments("attend_moments", kernels.Moments{
		Batch: dim.Const(a.batch), Heads: dim.Const(a.heads), Queries: dim.Const(a.rows), Width: a.width, Result: load(y), DY: load(dy),
		Sum: func(e *kernels.Emitter, at kernels.Attending) *kernel.Value { return e.Read(sums).Get(sum(e, at)) },
	}, g.Moments)
	if err := s.add(t, "moments", l, err); err != nil {
		return nil, err
	}
	for i, keys := range []bool{false, true} {
		name := []string{"queries", "keys"}[i]
		if tiles[i] == (kernels.GradientTiles{}) {
			tiles[i] = kernels.GradientTilesOf(g)
		}
		l, err := kernels.PipelinedAttentionGradient("attend_"+name, g, keys, tiles[i])
		if a.warps {
			back := p
			back.Q = g.DY
			l, err = kernels.WarpAttentionGradient("attend_"+name, kernels.AttendedGradient{
				Attended: byWarps(p), DY: byWarps(back).Query, Moments: g.Moments, StoreQuery: g.StoreQuery, StoreKey: g.StoreKey, StoreValue: g.StoreValue,
			}, keys)
		}
		if err := s.add(t, name, l, err); err != nil {
			return nil, err
		}
	}
	return t, s.Queue.Wait(context.Background())
}

// download returns the memory called name.
func (s *sides) download(t *training, name string) ([]byte, error) {
	key := t.names[name]
	out := make([]byte, t.bytes[key])
	if err := s.Queue.Download(out, t.memory[key]); err != nil {
		return nil, err
	}
	return out, s.Queue.Wait(context.Background())
}

// verifyGradients compares some rows of the gradients of queries, keys and values with sums in float64. For each of
// the three, off has ‖difference‖ / ‖gradient‖. verifyGradients returns an error if two runs give different results.
func (s *sides) verifyGradients(t *training) (off [3]float64, err error) {
	results := map[string][]byte{}
	for range 2 {
		if err := t.launch(s.Queue); err != nil {
			return off, err
		}
		for _, name := range []string{"y", "sums", "dq", "dk", "dv"} {
			data, err := s.download(t, name)
			if err != nil {
				return off, err
			}
			if results[name] != nil && !slices.Equal(data, results[name]) {
				return off, fmt.Errorf("%s changes from run to run", name)
			}
			results[name] = data
		}
	}
	numbers := func(name string) func(i int) float64 {
		if data := results[name]; data != nil {
			return turns.Numbers(t.d, data)
		}
		return turns.Numbers(t.d, s.Host(name))
	}
	q, k, v, y, dy := numbers("q"), numbers("k"), numbers("v"), numbers("y"), numbers("dy")
	sums := turns.Numbers(ir.F32, results["sums"])
	gradients := [3]func(i int) float64{numbers("dq"), numbers("dk"), numbers("dv")}
	for i, name := range []string{"dq", "dk", "dv"} {
		for j := range len(results[name]) / t.d.Size() {
			if x := gradients[i](j); math.IsNaN(x) {
				return off, fmt.Errorf("element %d of %s is %v", j, name, x)
			}
		}
	}
	var norm [3]float64
	count := func(i, at int, want []float64) {
		for e, x := range want {
			d := gradients[i](at+e) - x
			off[i] += d * d
			norm[i] += x * x
		}
	}
	for _, head := range spread(t.batch*t.heads, 3) {
		b, h := head/t.heads, head%t.heads
		group := t.heads / t.keyHeads
		g := h / group
		queryAt := func(h, m int) int { return ((b*t.rows+m)*t.heads + h) * t.width }
		keyAt := func(n int) int { return ((b*t.rows+n)*t.keyHeads + g) * t.width }
		dot := func(x func(int) float64, i int, y func(int) float64, j int) float64 {
			sum := 0.0
			for e := range t.width {
				sum += x(i+e) * y(j+e)
			}
			return sum
		}
		// weights returns the weight of a query and a key, and the gradient of their score.
		weights := func(h, m, n int) (p, ds float64) {
			if t.causal && n > m {
				return 0, 0
			}
			at := queryAt(h, m)
			p = math.Exp(dot(q, at, k, keyAt(n))*t.scale() - sums((b*t.heads+h)*t.rows+m))
			return p, p * (dot(dy, at, v, keyAt(n)) - dot(dy, at, y, at))
		}
		for _, m := range spread(t.rows, 16) {
			want, total := make([]float64, t.width), 0.0
			for n := range t.rows {
				p, ds := weights(h, m, n)
				total += p
				for e := range t.width {
					want[e] += ds * t.scale() * k(keyAt(n)+e)
				}
			}
			if math.Abs(total-1) > 1e-3 {
				return off, fmt.Errorf("the weights of query %d sum to %v", m, total)
			}
			count(0, queryAt(h, m), want)
		}
		for _, n := range spread(t.rows, 16) {
			dk, dv := make([]float64, t.width), make([]float64, t.width)
			for h := g * group; h < (g+1)*group; h++ {
				for m := range t.rows {
					p, ds := weights(h, m, n)
					for e := range t.width {
						dk[e] += ds * t.scale() * q(queryAt(h, m)+e)
						dv[e] += p * dy(queryAt(h, m)+e)
					}
				}
			}
			count(1, keyAt(n), dk)
			count(2, keyAt(n), dv)
		}
	}
	for i := range off {
		off[i] = math.Sqrt(off[i] / norm[i])
	}
	return off, nil
}

// gradientTiles returns the choices that the flag -backward lists, or one zero choice without the flag. A choice has
// the tiles of two kernels: the kernel for queries and the kernel for keys.
func gradientTiles() (list [][2]kernels.GradientTiles, err error) {
	if *backward == "" {
		return make([][2]kernels.GradientTiles, 1), nil
	}
	for _, text := range strings.Split(*backward, ",") {
		var pair [2]kernels.GradientTiles
		for i, text := range strings.SplitN(text, "/", 2) {
			t := &pair[i]
			if _, err := fmt.Sscanf(text, "%dx%dx%dx%dx%d", &t.Groups, &t.Columns, &t.Stages, &t.Blocks, &t.Cache); err != nil {
				return nil, fmt.Errorf("%q: %w", text, err)
			}
			t.Cache <<= 20
		}
		list = append(list, pair)
	}
	return list, nil
}

// compareGradients prints times of the forward and the backward pass of an attention. It measures burngen with each
// choice of tiles, and PyTorch's back ends. They take turns in each round.
func (s *sides) compareGradients(a attention) error {
	list, err := gradientTiles()
	if err != nil {
		return err
	}
	launches := int(min(max(0.008*400e12/a.flops(), 2), 100))
	var all []*training
	var recordings [][]*turns.Recording // of each choice: of all launches, and of each one
	var offs [][3]float64
	for _, tiles := range list {
		t, err := s.train(a, tiles)
		if err != nil {
			fmt.Printf("FAIL %s %v: %v\n", a, tiles, err)
			continue
		}
		defer s.close(t)
		off, err := s.verifyGradients(t)
		if err != nil {
			fmt.Printf("FAIL %s %v: %v\n", a, tiles, err)
			continue
		}
		fills := []func(q gpu.Queue) error{t.launch}
		for _, l := range t.launches {
			fills = append(fills, func(q gpu.Queue) error { return q.Launch(l.kernel, l.grid, l.args) })
		}
		var own []*turns.Recording
		for _, fill := range fills {
			r, err := s.Record(launches, fill)
			if err != nil {
				return err
			}
			defer r.Close()
			own = append(own, r)
		}
		all, recordings, offs = append(all, t), append(recordings, own), append(offs, off)
	}
	times := make([][][]float64, len(all))
	for i := range times {
		times[i] = make([][]float64, len(recordings[i]))
	}
	var torch [3][]float64
	for range *rounds {
		for i, own := range recordings {
			for k, r := range own {
				ms, err := r.Lap(1, 4)
				if err != nil {
					return err
				}
				times[i][k] = append(times[i][k], ms)
			}
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
	for i := range all {
		r := rate(turns.Median(times[i][0]))
		line := fmt.Sprintf("%-30s %8.4f ms %6.1f TFLOP/s (", a, turns.Median(times[i][0]), r)
		for k, l := range all[i].launches {
			if k > 0 {
				line += ", "
			}
			line += fmt.Sprintf("%s %.4f", l.name, turns.Median(times[i][k+1]))
		}
		line += fmt.Sprintf("), errors %.1e", offs[i])
		if *backward != "" {
			line += fmt.Sprintf(" %v", all[i].tiles)
		}
		if best > 0 {
			line += fmt.Sprintf("%s | ratio %.3f", others, r/best)
		}
		fmt.Println(line)
	}
	return nil
}

package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/templates/kernels"
)

// backward is an attention, its operands, and its gradients by their definition in float64.
type backward struct {
	d                      ir.DType
	batch, heads, keyHeads int
	queries, keys, width   int
	past, before, after    int
	scale                  float64
	score                  bool // keys of odd distance to the query are excluded, and queries above 64 have none
	q, k, v, y, dy, sums   *ir.Tensor
	dq, dk, dv             []float64    // gradients
	sizes                  [3][]float64 // sums of the absolute values of their terms
}

// draw draws the operands, and computes the result and the gradients.
func (c *backward) draw(seed uint64) {
	r := rand.New(rand.NewPCG(2, seed))
	draw := func(shape ...int) *ir.Tensor {
		x := ir.NewTensor(c.d, shape...)
		for i := range x.Len() {
			x.SetFloat(i, r.NormFloat64())
		}
		return x
	}
	c.q, c.dy = draw(c.batch, c.queries, c.heads*c.width), draw(c.batch, c.queries, c.heads*c.width)
	c.k, c.v = draw(c.batch*c.keyHeads, c.keys, c.width), draw(c.batch, c.keys, c.keyHeads*c.width)
	c.y, c.sums = ir.NewTensor(c.d, c.q.Shape...), ir.NewTensor(ir.F32, c.batch, c.heads, c.queries)
	c.dq, c.dk, c.dv = make([]float64, c.q.Len()), make([]float64, c.k.Len()), make([]float64, c.v.Len())
	c.sizes = [3][]float64{make([]float64, c.q.Len()), make([]float64, c.k.Len()), make([]float64, c.v.Len())}
	for b := range c.batch {
		for h := range c.heads {
			for m := range c.queries {
				c.query(b, h, m)
			}
		}
	}
}

func (c *backward) query(b, h, m int) {
	g := h / (c.heads / c.keyHeads)
	at := ((b*c.queries+m)*c.heads + h) * c.width
	keyAt := func(n int) int { return ((b*c.keyHeads+g)*c.keys + n) * c.width }
	valueAt := func(n int) int { return ((b*c.keys+n)*c.keyHeads + g) * c.width }
	weights, total := make([]float64, c.keys), 0.0
	for n := range weights {
		p := c.past + m
		if c.after >= 0 && n > p+c.after || c.before >= 0 && n < p-c.before || c.score && ((m+n)%2 == 1 || m > 64) {
			continue
		}
		s := 0.0
		for e := range c.width {
			s += c.q.Float(at+e) * c.k.Float(keyAt(n)+e)
		}
		weights[n] = math.Exp(s * c.scale)
		if c.score {
			weights[n] *= math.E
		}
		total += weights[n]
	}
	c.sums.SetFloat((b*c.heads+h)*c.queries+m, math.Log(total))
	if total == 0 {
		c.sums.SetFloat((b*c.heads+h)*c.queries+m, math.Inf(1))
		return
	}
	mean := 0.0
	for e := range c.width {
		y := 0.0
		for n, w := range weights {
			y += w / total * c.v.Float(valueAt(n)+e)
		}
		c.y.SetFloat(at+e, y)
		mean += c.y.Float(at+e) * c.dy.Float(at+e)
	}
	for n, w := range weights {
		if w == 0 {
			continue
		}
		p, dp, size := w/total, 0.0, 0.0
		for e := range c.width {
			dp += c.dy.Float(at+e) * c.v.Float(valueAt(n)+e)
		}
		ds := p * (dp - mean) * c.scale
		size = p * (math.Abs(dp) + math.Abs(mean)) * math.Abs(c.scale)
		for e := range c.width {
			c.dq[at+e] += ds * c.k.Float(keyAt(n)+e)
			c.dk[keyAt(n)+e] += ds * c.q.Float(at+e)
			c.dv[valueAt(n)+e] += p * c.dy.Float(at+e)
			c.sizes[0][at+e] += size * math.Abs(c.k.Float(keyAt(n)+e))
			c.sizes[1][keyAt(n)+e] += size * math.Abs(c.q.Float(at+e))
			c.sizes[2][valueAt(n)+e] += p * math.Abs(c.dy.Float(at+e))
		}
	}
}

// memory holds the bytes of values and of scratch memory.
type memory map[any][]byte

// run runs a launch on the interpreter of kernels.
func (m memory) run(t *testing.T, l kernels.Launch, err error, seed uint64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := kernel.Parse(l.Kernel.String()); err != nil || again.String() != l.Kernel.String() {
		t.Fatalf("it does not read as it prints: %v\n%s", err, l.Kernel)
	}
	var args []kernel.Arg
	for _, a := range l.Args {
		switch {
		case a.Read != nil:
			args = append(args, kernel.Bytes(a.Read.Type.DType, m[a.Read]))
		case a.Write != nil:
			args = append(args, kernel.Bytes(a.Write.Type.DType, m[a.Write]))
		case a.Scratch != nil:
			if m[a.Scratch] == nil {
				shape, _ := dim.Ints(a.Scratch.Shape)
				m[a.Scratch] = ir.NewTensor(a.Scratch.DType, shape...).Bytes()
			}
			args = append(args, kernel.Bytes(a.Scratch.DType, m[a.Scratch]))
		default:
			t.Fatalf("argument %+v", a)
		}
	}
	grid, _ := dim.Ints(l.Grid[:])
	if err := l.Kernel.Run([3]int(grid), args, kernel.Options{Seed: seed}); err != nil {
		t.Fatal(err)
	}
}

// TestPipelinedAttentionGradient compares gradients of pipelined kernels with their definition.
func TestPipelinedAttentionGradient(t *testing.T) { testAttentionGradient(t, false) }

// TestWarpAttentionGradient compares gradients by warps with their definition.
func TestWarpAttentionGradient(t *testing.T) { testAttentionGradient(t, true) }

func testAttentionGradient(t *testing.T, warps bool) {
	tiles := func(groups, columns, blocks int) kernels.GradientTiles {
		return kernels.GradientTiles{Groups: groups, Columns: columns, Stages: 2, Blocks: blocks, Cache: 1 << 20}
	}
	for i, c := range []struct {
		backward
		tiles kernels.GradientTiles
	}{
		{backward{d: ir.BF16, batch: 1, heads: 1, keyHeads: 1, queries: 128, keys: 128, width: 64, before: -1, after: -1, scale: 0.125}, tiles(2, 64, 4)},
		{backward{d: ir.F16, batch: 1, heads: 2, keyHeads: 1, queries: 100, keys: 150, width: 64, before: -1, after: -1, scale: 0.125}, tiles(2, 128, 1)},
		{backward{d: ir.BF16, batch: 2, heads: 2, keyHeads: 2, queries: 200, keys: 200, width: 64, before: -1, after: 0, scale: 0.125}, tiles(2, 64, 3)},
		{backward{d: ir.BF16, batch: 1, heads: 1, keyHeads: 1, queries: 200, keys: 260, width: 64, past: 60, before: -1, after: 0, scale: 0.125}, tiles(3, 64, 3)},
		{backward{d: ir.BF16, batch: 1, heads: 1, keyHeads: 1, queries: 300, keys: 320, width: 64, before: 40, after: 20, scale: 0.125}, tiles(2, 64, 2)},
		{backward{d: ir.F16, batch: 1, heads: 1, keyHeads: 1, queries: 130, keys: 70, width: 128, before: -1, after: -1, scale: -0.1}, tiles(2, 64, 2)},
		{backward{d: ir.BF16, batch: 1, heads: 4, keyHeads: 2, queries: 70, keys: 130, width: 64, before: -1, after: 0, scale: 0.125, score: true}, tiles(2, 64, 1)},
		{backward{d: ir.BF16, batch: 2, heads: 2, keyHeads: 1, queries: 130, keys: 66, width: 80, before: -1, after: 0, scale: 0.125}, tiles(2, 64, 2)},
		{backward{d: ir.F16, batch: 1, heads: 2, keyHeads: 2, queries: 20, keys: 70, width: 40, before: -1, after: -1, scale: 0.125}, tiles(2, 128, 2)},
	} {
		if c.width%16 != 0 && warps {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c.draw(uint64(i))
			value := func(x *ir.Tensor) *ir.Value { return &ir.Value{Type: x.Type()} }
			heads := kernels.HeadRows{Outer: c.batch, Rows: c.queries, Columns: c.heads * c.width, BatchOuter: 1, HeadColumns: c.width}
			a := kernels.AttentionGradient{
				Attention: kernels.Attention{
					Batch: c.batch, Heads: c.heads, KeyHeads: c.keyHeads, Queries: c.queries, Keys: c.keys, Width: c.width, Matrix: c.d,
					Q:     heads,
					K:     kernels.HeadRows{Value: value(c.k), Outer: c.batch * c.keyHeads, Rows: c.keys, Columns: c.width, BatchOuter: c.keyHeads, HeadOuter: 1},
					V:     kernels.HeadRows{Value: value(c.v), Outer: c.batch, Rows: c.keys, Columns: c.keyHeads * c.width, BatchOuter: 1, HeadColumns: c.width},
					Scale: c.scale, Past: c.past, Before: c.before, After: c.after,
				},
				DY: heads, Moments: kernels.MomentsOf(dim.Const(c.batch), dim.Const(c.heads), dim.Const(c.queries)),
			}
			y, sums := value(c.y), value(c.sums)
			a.Q.Value, a.DY.Value = value(c.q), value(c.dy)
			if c.score {
				a.Score = func(e *kernels.Emitter, at kernels.Attending, score *kernel.Value) *kernel.Value {
					odd := e.Eq(e.And(e.Add(at.Query, at.Key), e.Int(1)), e.Int(1))
					return e.Select(e.Or(odd, e.Gt(at.Query, e.Int(64))), e.Float(ir.F32, math.Inf(-1)), e.Add(score, e.Float(ir.F32, 1)))
				}
			}
			results := []*ir.Value{value(c.q), value(c.k), value(c.v)}
			store := func(y *ir.Value, index func(e *kernels.Emitter, at kernels.Attending) *kernel.Value) func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
				return func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
					e.Write(y).Set(e.Add(e.Mul(index(e, at), e.Int(c.width)), column), x)
				}
			}
			query := func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
				return e.Add(e.Mul(e.Add(e.Mul(at.Batch, e.Int(c.queries)), at.Query), e.Int(c.heads)), at.Head)
			}
			a.StoreQuery = store(results[0], query)
			a.StoreKey = store(results[1], func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
				return e.Add(e.Mul(e.Add(e.Mul(at.Batch, e.Int(c.keyHeads)), at.Group), e.Int(c.keys)), at.Key)
			})
			a.StoreValue = store(results[2], func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
				return e.Add(e.Mul(e.Add(e.Mul(at.Batch, e.Int(c.keys)), at.Key), e.Int(c.keyHeads)), at.Group)
			})
			m := memory{a.Q.Value: c.q.Bytes(), a.K.Value: c.k.Bytes(), a.V.Value: c.v.Bytes(), a.DY.Value: c.dy.Bytes(), y: c.y.Bytes(), sums: c.sums.Bytes()}
			for _, r := range results {
				shape, _ := r.Type.Static()
				m[r] = ir.NewTensor(c.d, shape...).Bytes()
			}
			load := func(v *ir.Value) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value) []*kernel.Value {
				return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value) []*kernel.Value {
					return e.LoadN(e.Read(v).Pointer(), e.Add(e.Mul(query(e, at), e.Int(c.width)), element), 8)
				}
			}
			l, err := kernels.AttentionMoments("moments", kernels.Moments{
				Batch: dim.Const(c.batch), Heads: dim.Const(c.heads), Queries: dim.Const(c.queries), Width: c.width, Result: load(y), DY: load(a.DY.Value),
				Sum: func(e *kernels.Emitter, at kernels.Attending) *kernel.Value {
					return e.Read(sums).Get(e.Add(e.Mul(e.Add(e.Mul(at.Batch, e.Int(c.heads)), at.Head), e.Int(c.queries)), at.Query))
				},
			}, a.Moments)
			m.run(t, l, err, uint64(i))
			for _, keys := range []bool{false, true} {
				l, err := kernels.PipelinedAttentionGradient("gradient", a, keys, c.tiles)
				if warps {
					dy := a.Attention
					dy.Q = a.DY
					l, err = kernels.WarpAttentionGradient("gradient", kernels.AttendedGradient{
						Attended: byWarps(a.Attention), DY: byWarps(dy).Query, Moments: a.Moments,
						StoreQuery: a.StoreQuery, StoreKey: a.StoreKey, StoreValue: a.StoreValue,
					}, keys)
				}
				m.run(t, l, err, uint64(i))
			}
			for k, want := range [][]float64{c.dq, c.dk, c.dv} {
				got, err := ir.DecodeTensor(c.d, []int{len(want)}, m[results[k]])
				if err != nil {
					t.Fatal(err)
				}
				for j, w := range want {
					// P, dS and the result are rounded to 8 bits or more.
					if x := got.Float(j); !(math.Abs(x-w) <= 0x1p-7*c.sizes[k][j]) {
						t.Fatalf("element %d of gradient %d is %v, want %v", j, k, x, w)
					}
				}
			}
		})
	}
}

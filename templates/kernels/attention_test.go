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

// TestPipelinedAttention compares attentions of pipelined kernels with their definition.
func TestPipelinedAttention(t *testing.T) { testAttention(t, false) }

// TestWarpAttention compares attentions by warps with their definition.
func TestWarpAttention(t *testing.T) { testAttention(t, true) }

// byWarps returns the same attention for [kernels.WarpAttention]. Its keys and values are loaded by elements, and its queries
// by pairs.
func byWarps(a kernels.Attention) kernels.Attended {
	elements := func(r kernels.HeadRows, place func(at kernels.Attending) (head, row *kernel.Value)) func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) []*kernel.Value {
		return func(e *kernels.Emitter, at kernels.Attending, element *kernel.Value, n int) (list []*kernel.Value) {
			head, row := place(at)
			outer := e.Add(e.Mul(at.Batch, e.Int(r.BatchOuter)), e.Mul(head, e.Int(r.HeadOuter)))
			column := e.Add(e.Mul(head, e.Int(r.HeadColumns)), element)
			first := e.Add(e.Mul(e.Add(e.Mul(outer, e.Int(r.Rows)), row), e.Int(r.Columns)), column)
			if n == 2 {
				return e.LoadN(e.Read(r.Value).Pointer(), first, n)
			}
			for i := range n {
				list = append(list, e.Read(r.Value).Raw(e.Add(first, e.Int(i))))
			}
			return list
		}
	}
	key := func(at kernels.Attending) (head, row *kernel.Value) { return at.Group, at.Key }
	return kernels.Attended{
		Batch: dim.Const(a.Batch), Heads: dim.Const(a.Heads), Queries: dim.Const(a.Queries), Keys: dim.Const(a.Keys), Shared: dim.Const(a.Heads / a.KeyHeads),
		Depth: a.Width, Width: a.Width, Matrix: a.Matrix, Scale: a.Scale, Past: dim.Const(a.Past), Before: a.Before, After: a.After, Score: a.Score, Sink: a.Sink, Store: a.Store, StoreSum: a.StoreSum,
		Query: elements(a.Q, func(at kernels.Attending) (head, row *kernel.Value) { return at.Head, at.Query }), Key: elements(a.K, key), Value: elements(a.V, key),
	}
}

func testAttention(t *testing.T, warps bool) {
	tiles := func(groups, keys, blocks int, turns bool) kernels.AttentionTiles {
		return kernels.AttentionTiles{Groups: groups, Keys: keys, Stages: 2, Blocks: blocks, Turns: turns, Cache: 1 << 20}
	}
	for i, c := range []struct {
		d                      ir.DType
		batch, heads, keyHeads int
		queries, keys, width   int
		past, before, after    int
		scale                  float64
		tiles                  kernels.AttentionTiles
		score, sink            bool
	}{
		{ir.BF16, 1, 1, 1, 128, 128, 64, 0, -1, -1, 0.125, tiles(2, 64, 4, true), false, false},
		{ir.F16, 1, 2, 1, 100, 150, 64, 0, -1, -1, 0.125, tiles(2, 128, 1, true), false, false},
		{ir.BF16, 2, 2, 2, 200, 200, 64, 0, -1, 0, 0.125, tiles(2, 128, 3, true), false, false},
		{ir.BF16, 1, 1, 1, 200, 260, 64, 60, -1, 0, 0.125, tiles(3, 64, 3, true), false, false},
		{ir.BF16, 1, 1, 1, 300, 300, 64, 0, 40, 20, 0.125, tiles(2, 64, 2, false), false, false},
		{ir.F16, 1, 1, 1, 130, 70, 128, 0, -1, -1, -0.1, tiles(2, 64, 2, true), false, false},
		{ir.BF16, 1, 2, 1, 70, 130, 64, 0, -1, -1, 0.125, tiles(2, 64, 1, true), true, false},
		{ir.BF16, 1, 2, 1, 70, 130, 64, 0, -1, 0, 0.125, tiles(2, 64, 1, true), false, true},
		{ir.BF16, 2, 2, 2, 66, 130, 80, 0, -1, 0, 0.125, tiles(2, 64, 2, true), false, false},
		{ir.F16, 1, 2, 1, 70, 64, 40, 0, -1, -1, 0.125, tiles(2, 64, 2, true), false, false},
		{ir.F16, 1, 2, 1, 20, 70, 48, 0, -1, -1, -0.125, tiles(2, 64, 1, true), false, true},
	} {
		if c.width%16 != 0 && warps {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			draw := func(shape ...int) *ir.Tensor {
				x := ir.NewTensor(c.d, shape...)
				for i := range x.Len() {
					x.SetFloat(i, r.NormFloat64())
				}
				return x
			}
			q, k, v := draw(c.batch, c.queries, c.heads*c.width), draw(c.batch*c.keyHeads, c.keys, c.width), draw(c.batch, c.keys, c.keyHeads*c.width)
			value := func(x *ir.Tensor) *ir.Value { return &ir.Value{Type: x.Type()} }
			y := &ir.Value{Type: ir.TensorOf(c.d, dim.Const(c.batch), dim.Const(c.queries), dim.Const(c.heads), dim.Const(c.width))}
			a := kernels.Attention{
				Batch: c.batch, Heads: c.heads, KeyHeads: c.keyHeads, Queries: c.queries, Keys: c.keys, Width: c.width, Matrix: c.d,
				Q:     kernels.HeadRows{Value: value(q), Outer: c.batch, Rows: c.queries, Columns: c.heads * c.width, BatchOuter: 1, HeadColumns: c.width},
				K:     kernels.HeadRows{Value: value(k), Outer: c.batch * c.keyHeads, Rows: c.keys, Columns: c.width, BatchOuter: c.keyHeads, HeadOuter: 1},
				V:     kernels.HeadRows{Value: value(v), Outer: c.batch, Rows: c.keys, Columns: c.keyHeads * c.width, BatchOuter: 1, HeadColumns: c.width},
				Scale: c.scale, Past: c.past, Before: c.before, After: c.after,
				Store: func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
					i := e.Add(e.Mul(at.Batch, e.Int(c.queries)), at.Query)
					i = e.Add(e.Mul(i, e.Int(c.heads)), at.Head)
					e.Write(y).Set(e.Add(e.Mul(i, e.Int(c.width)), column), x)
				},
			}
			if c.score { // keys of odd distance to the query are excluded, and queries above 64 have none
				a.Score = func(e *kernels.Emitter, at kernels.Attending, score *kernel.Value) *kernel.Value {
					odd := e.Eq(e.And(e.Add(at.Query, at.Key), e.Int(1)), e.Int(1))
					return e.Select(e.Or(odd, e.Gt(at.Query, e.Int(64))), e.Float(ir.F32, math.Inf(-1)), e.Add(score, e.Float(ir.F32, 1)))
				}
			}
			sums := &ir.Value{Type: ir.TensorOf(ir.F32, dim.Consts(c.batch, c.heads, c.queries, 2)...)}
			a.StoreSum = func(e *kernels.Emitter, at kernels.Attending, top, total *kernel.Value) {
				for i, x := range []*kernel.Value{top, total} {
					e.Write(sums).Set(e.Write(sums).Offset([]*kernel.Value{at.Batch, at.Head, at.Query, e.Int(i)}), x)
				}
			}
			if c.sink {
				a.Sink = func(e *kernels.Emitter, at kernels.Attending) *kernel.Value { return e.Convert(ir.F32, at.Head) }
			}
			l, err := kernels.PipelinedAttention("attend", a, c.tiles)
			if warps {
				l, err = kernels.WarpAttention("attend", byWarps(a))
			}
			if err != nil {
				t.Fatal(err)
			}
			if again, err := kernel.Parse(l.Kernel.String()); err != nil || again.String() != l.Kernel.String() {
				t.Fatalf("it does not read as it prints: %v\n%s", err, l.Kernel)
			}
			out := make([]byte, q.Len()*c.d.Size())
			grid, _ := dim.Ints(l.Grid[:])
			args := []kernel.Arg{kernel.Bytes(c.d, q.Bytes()), kernel.Bytes(c.d, k.Bytes()), kernel.Bytes(c.d, v.Bytes()), kernel.Bytes(c.d, out)}
			logs := make([]byte, c.batch*c.heads*c.queries*2*4)
			args = append(args, kernel.Bytes(ir.F32, logs))
			if err := l.Kernel.Run([3]int(grid), args, kernel.Options{Seed: uint64(i)}); err != nil {
				t.Fatal(err)
			}
			got, err := ir.DecodeTensor(c.d, []int{q.Len()}, out)
			if err != nil {
				t.Fatal(err)
			}
			totals, err := ir.DecodeTensor(ir.F32, []int{len(logs) / 4}, logs)
			if err != nil {
				t.Fatal(err)
			}
			for b := range c.batch {
				for h := range c.heads {
					g := h / (c.heads / c.keyHeads)
					for m := range c.queries {
						weights, total := make([]float64, c.keys), 0.0
						if c.sink { // the score of a head's sink is the head's index
							total = math.Exp(float64(h))
						}
						for n := range weights {
							p := c.past + m
							if c.after >= 0 && n > p+c.after || c.before >= 0 && n < p-c.before || c.score && ((m+n)%2 == 1 || m > 64) {
								continue
							}
							s := 0.0
							for e := range c.width {
								s += q.Float(((b*c.queries+m)*c.heads+h)*c.width+e) * k.Float(((b*c.keyHeads+g)*c.keys+n)*c.width+e)
							}
							weights[n] = math.Exp(s * c.scale)
							total += weights[n]
						}
						at := 2 * ((b*c.heads+h)*c.queries + m)
						sum, x := math.Log(total), totals.Float(at)+math.Log(totals.Float(at+1))
						if c.score { // which adds 1 to all scores
							sum++
						}
						if x != sum && !(math.Abs(x-sum) <= 1e-5*(1+math.Abs(sum))) {
							t.Fatalf("the sum of query %d of head %d is %v, want %v", m, h, x, sum)
						}
						for e := range c.width {
							want, size := 0.0, 0.0
							for n, w := range weights {
								if w > 0 {
									x := v.Float(((b*c.keys+n)*c.keyHeads+g)*c.width + e)
									want += w / total * x
									size += w / total * math.Abs(x)
								}
							}
							at := ((b*c.queries+m)*c.heads+h)*c.width + e
							// Weights and results are rounded to 8 bits or more.
							if x := got.Float(at); !(math.Abs(x-want) <= 0x1p-7*size) {
								t.Fatalf("element (%d, %d, %d, %d) is %v, want %v", b, m, h, e, x, want)
							}
						}
					}
				}
			}
		})
	}
}

// TestAttentionTiles asserts how many groups compute heads of a size, and how many blocks compute causal attention: all at once
// in pairs of tiles, or one for each tile.
func TestAttentionTiles(t *testing.T) {
	for _, c := range []struct{ heads, rows, width, after, before, groups, blocks int }{
		{128, 2048, 128, -1, -1, 2, 132},
		{128, 2048, 64, -1, -1, 3, 132},
		{16, 1024, 64, -1, -1, 2, 132}, // 96 tiles of 192 queries would leave blocks without work
		{128, 2048, 128, 0, -1, 2, 132},
		{32, 1024, 128, 0, -1, 2, 132},
		{40, 1024, 128, 0, -1, 2, math.MaxInt32}, // 160 pairs
		{128, 2048, 128, 0, 100, 2, math.MaxInt32},
	} {
		v := &ir.Value{Type: ir.TensorOf(ir.BF16, dim.Const(c.heads), dim.Const(c.rows), dim.Const(c.width))}
		rows := kernels.HeadRows{Value: v, Outer: c.heads, Rows: c.rows, Columns: c.width, HeadOuter: 1}
		a := kernels.Attention{
			Batch: 1, Heads: c.heads, KeyHeads: c.heads, Queries: c.rows, Keys: c.rows, Width: c.width, Matrix: ir.BF16, Q: rows, K: rows, V: rows,
			Scale: 1, Before: c.before, After: c.after, Store: func(e *kernels.Emitter, _ kernels.Attending, column, x *kernel.Value) {
				e.Write(v).Set(column, x)
			},
		}
		tiles := kernels.AttentionTilesOf(a)
		if tiles.Groups != c.groups || tiles.Blocks != c.blocks {
			t.Errorf("%+v: %d groups and %d blocks", c, tiles.Groups, tiles.Blocks)
		}
		if _, err := kernels.PipelinedAttention("attend", a, tiles); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

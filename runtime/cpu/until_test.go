package cpu

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// asked is a context that ends when it has been asked a number of times whether it has.
type asked struct {
	context.Context
	left atomic.Int64
}

func endsAfter(n int64) *asked {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so that it has a cause
	a := &asked{Context: ctx}
	a.left.Store(n)
	return a
}

func (a *asked) Err() error {
	if a.left.Add(-1) >= 0 {
		return nil
	}
	return a.Context.Err()
}

// TestKernelsEndWithTheContext runs every kernel whose shape has a context three times: the context
// is never done, is done before the call, and is done during the call.
func TestKernelsEndWithTheContext(t *testing.T) {
	defer func(ns int64) { partNS = ns }(partNS)
	partNS = 20_000
	conv := ConvShape{N: 2, InC: 32, InH: 40, InW: 40, InBlock: 16, OutC: 64, OutH: 40, OutW: 40, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, PadH: 1, PadW: 1, Group: 1}
	wise, flat := conv, conv
	wise.OutC, wise.Group = 32, 32
	flat.InBlock, flat.OutC, flat.Group = 1, 32, 32
	planar := conv
	planar.InBlock = 1
	mul := MatMulShape{M: 300, N: 320, K: 200, LDA: 200, LDC: 320, Batch: 1}
	pool := PoolShape{N: 2, C: 8, InH: 80, InW: 80, OutH: 80, OutW: 80, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, PadH: 1, PadW: 1, EndH: 1, EndW: 1, Block: 16}
	winograd := WinogradShape{N: 2, InC: 32, InH: 40, InW: 40, OutC: 64, OutH: 40, OutW: 40, Top: 1, Left: 1, Group: 1, Tile: 4}
	attention := AttentionShape{Batch: 1, Heads: 4, Shared: 4, Queries: 300, Keys: 300, Depth: 16, Width: 16, Scale: 1}
	for _, at := range []*[4]int{&attention.Q, &attention.K, &attention.V, &attention.Y} {
		*at = [4]int{0, 4 * 300 * 16, 300 * 16, 16}
	}
	const image, out = 2 * 32 * 40 * 40, 2 * 64 * 40 * 40
	x, g := random(2*8*80*80*16, 1), random(2*8*80*80*16, 2)
	weights := random(1<<17, 3)
	scratch := make([]float32, 1<<20)
	for name, k := range map[string]struct {
		elems int
		run   func(dst []float32, ctx context.Context)
	}{
		"MatMul":             {300 * 320, func(dst []float32, ctx context.Context) { MatMul(dst, x, weights, mul.Until(ctx), nil) }},
		"Conv":               {out, func(dst []float32, ctx context.Context) { Conv(dst, x, weights, conv.Until(ctx), nil) }},
		"DepthwiseConv":      {image, func(dst []float32, ctx context.Context) { DepthwiseConv(dst, x, weights, wise.Until(ctx), nil) }},
		"DepthwisePlanar":    {image, func(dst []float32, ctx context.Context) { DepthwisePlanar(dst, x, weights, flat.Until(ctx), nil) }},
		"ConvData":           {image, func(dst []float32, ctx context.Context) { ConvData(dst, g, weights, conv.Until(ctx)) }},
		"ConvWeights":        {64 * 32 * 9, func(dst []float32, ctx context.Context) { ConvWeights(dst, x, g, scratch, planar.Until(ctx)) }},
		"ConvWeightsBlocked": {64 * 32 * 9, func(dst []float32, ctx context.Context) { ConvWeightsBlocked(dst, x, g, scratch, conv.Until(ctx)) }},
		"Winograd":           {out, func(dst []float32, ctx context.Context) { Winograd(dst, x, weights, scratch, winograd.Until(ctx), nil) }},
		"Attention": {4 * 300 * 16, func(dst []float32, ctx context.Context) {
			Attention(dst, x, g, weights, scratch, attention.Until(ctx), nil)
		}},
		"RNN": {6 * 4 * 32, func(dst []float32, ctx context.Context) {
			_ = RNN(ctx, dst, scratch[:4*32], x, weights, nil, nil, scratch[1000:], 6, 4, 32, false, 0, "tanh", 0, 0)
		}},
		"LSTM": {6 * 4 * 32, func(dst []float32, ctx context.Context) {
			_ = LSTM(ctx, dst, scratch[:4*32], scratch[500:], x, weights, nil, nil, nil, nil, scratch[1000:], 6, 4, 32, false, false, 0, "sigmoid", 0, 0, "tanh", 0, 0, "tanh", 0, 0)
		}},
		"LSTMTrace": {6 * 4 * 32 * 4, func(dst []float32, ctx context.Context) {
			_ = LSTMTrace(ctx, scratch[3000:], scratch[:4*32], scratch[500:], dst, scratch[5000:], x, weights, nil, nil, nil, 6, 4, 32, false)
		}},
		"LSTMGrad": {6 * 4 * 32 * 4, func(dst []float32, ctx context.Context) {
			_ = LSTMGrad(ctx, dst, scratch[:4*32], scratch[500:], x, g, weights, nil, nil, g, nil, nil, 6, 4, 32, false)
		}},
		"GRUTrace": {6 * 4 * 32 * 3, func(dst []float32, ctx context.Context) {
			_ = GRUTrace(ctx, scratch[3000:], scratch[:4*32], dst, scratch[5000:], x, weights, weights[8000:], nil, nil, nil, 6, 4, 32, false, true)
		}},
		"GRUGrad": {6 * 4 * 32 * 3, func(dst []float32, ctx context.Context) {
			_ = GRUGrad(ctx, dst, scratch[3000:], scratch[:4*32], x, g, x, weights, weights[8000:], nil, g, nil, 6, 4, 32, false, true)
		}},
		"GRU": {6 * 4 * 32, func(dst []float32, ctx context.Context) {
			_ = GRU(ctx, dst, scratch[:4*32], x, weights, weights[8000:], nil, nil, nil, scratch[1000:], scratch[500:1000], 6, 4, 32, false, true, 0, "sigmoid", 0, 0, "tanh", 0, 0)
		}},
		"MaxPool":     {2 * 8 * 80 * 80 * 16, func(dst []float32, ctx context.Context) { MaxPool(dst, x, pool.Until(ctx)) }},
		"MaxPoolGrad": {2 * 8 * 80 * 80 * 16, func(dst []float32, ctx context.Context) { MaxPoolGrad(dst, x, g, pool.Until(ctx)) }},
	} {
		t.Run(name, func(t *testing.T) {
			rt.Begin()
			defer rt.End()
			want := make([]float32, k.elems)
			k.run(want, nil)
			// run returns how many elements are other than before, how many are right, and the
			// call's error.
			run := func(ctx context.Context) (written, right int, err error) {
				dst := make([]float32, k.elems)
				for i := range dst {
					dst[i] = 12345
				}
				defer func() {
					for i, v := range dst {
						if v != 12345 {
							written++
						}
						if math.Float32bits(v) == math.Float32bits(want[i]) {
							right++
						}
					}
				}()
				defer rt.Recover("call", &err)
				k.run(dst, ctx)
				return 0, 0, nil
			}
			whole := endsAfter(math.MaxInt64)
			if _, right, err := run(whole); err != nil || right < k.elems {
				t.Fatalf("a context that does not end: %v, %d of %d elements as without", err, right, k.elems)
			}
			asks := math.MaxInt64 - whole.left.Load()
			if asks < 4 {
				t.Fatalf("it asks %d times", asks)
			}
			if written, _, err := run(endsAfter(0)); !errors.Is(err, context.Canceled) || written > 0 {
				t.Errorf("a context that has ended: %v after %d elements", err, written)
			}
			if _, right, err := run(endsAfter(asks / 2)); !errors.Is(err, context.Canceled) || right == k.elems {
				t.Errorf("a context that ends on the way: %v after %d of %d elements", err, right, k.elems)
			}
			if _, right, err := run(nil); err != nil || right < k.elems {
				t.Errorf("the call after: %v, %d of %d elements", err, right, k.elems)
			}
		})
	}
}

// TestShapesForCalls asserts that a copy of a shape gets its extent and its context, and that the
// original does not change.
func TestShapesForCalls(t *testing.T) {
	ctx := context.Background()
	conv, pool, winograd := ConvShape{InC: 3}, PoolShape{C: 3}, WinogradShape{InC: 3}
	attention, mul := AttentionShape{Heads: 3}, MatMulShape{N: 3}
	if got := conv.For(7, ctx); *got != (ConvShape{N: 7, InC: 3, Ctx: ctx}) || conv.N != 0 {
		t.Errorf("Conv: %v", got)
	}
	if got := pool.For(7, ctx); *got != (PoolShape{N: 7, C: 3, Ctx: ctx}) || pool.N != 0 {
		t.Errorf("Pool: %v", got)
	}
	if got := winograd.For(7, ctx); *got != (WinogradShape{N: 7, InC: 3, Ctx: ctx}) || winograd.N != 0 {
		t.Errorf("Winograd: %v", got)
	}
	if got := attention.For(7, ctx); *got != (AttentionShape{Batch: 7, Heads: 3, Ctx: ctx}) || attention.Batch != 0 {
		t.Errorf("Attention: %v", got)
	}
	for name, got := range map[string]*MatMulShape{"For": mul.For(7, ctx), "Rows": mul.Rows(7, ctx), "Depth": mul.Depth(7, ctx)} {
		want := map[string]MatMulShape{"For": {Batch: 7}, "Rows": {M: 7}, "Depth": {K: 7, LDA: 7}}[name]
		want.N, want.Ctx = 3, ctx
		if *got != want {
			t.Errorf("MatMul %s: %v", name, got)
		}
	}
}

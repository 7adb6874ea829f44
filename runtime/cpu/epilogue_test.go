package cpu

import (
	"slices"
	"testing"
)

// TestActsAreClamps asserts that an activation equals the clamp with its limits, for every kernel
// that applies it.
func TestActsAreClamps(t *testing.T) {
	conv := ConvShape{N: 1, InC: 32, InH: 12, InW: 12, InBlock: 16, OutC: 32, OutH: 12, OutW: 12, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, PadH: 1, PadW: 1, Group: 1}
	wise, flat := conv, conv
	wise.Group = 32
	flat.InBlock, flat.Group = 1, 32
	winograd := WinogradShape{N: 1, InC: 32, InH: 12, InW: 12, OutC: 32, OutH: 12, OutW: 12, Top: 1, Left: 1, Group: 1, Tile: 4}
	const out = 32 * 12 * 12
	x, w, scratch := random(1<<14, 1), random(1<<17, 2), make([]float32, 1<<18)
	for name, run := range map[string]func(dst []float32, ep *Epilogue){
		"MatMul": func(dst []float32, ep *Epilogue) {
			MatMul(dst, x, w, &MatMulShape{M: 12, N: 384, K: 16, LDA: 16, LDC: 384, Batch: 1}, ep)
		},
		"MatMul of a row": func(dst []float32, ep *Epilogue) {
			MatMul(dst, x, w, &MatMulShape{M: 1, N: out, K: 16, LDA: 16, LDC: out, Batch: 1}, ep)
		},
		"Conv":            func(dst []float32, ep *Epilogue) { Conv(dst, x, w, &conv, ep) },
		"DepthwiseConv":   func(dst []float32, ep *Epilogue) { DepthwiseConv(dst, x, w, &wise, ep) },
		"DepthwisePlanar": func(dst []float32, ep *Epilogue) { DepthwisePlanar(dst, x, w, &flat, ep) },
		"Winograd":        func(dst []float32, ep *Epilogue) { Winograd(dst, x, w, scratch, &winograd, ep) },
	} {
		for _, c := range []struct {
			act    Act
			lo, hi float32
		}{{ReLU, 0, Inf}, {ReLU6, 0, 6}} {
			free, got, want := make([]float32, out), make([]float32, out), make([]float32, out)
			run(free, nil)
			run(got, &Epilogue{Act: c.act})
			run(want, &Epilogue{Clamp: true, Lo: c.lo, Hi: c.hi})
			if !slices.Equal(got, want) || slices.Equal(got, free) {
				t.Errorf("%s: activation %d is not the clamp to %g…%g", name, c.act, c.lo, c.hi)
			}
		}
	}
}

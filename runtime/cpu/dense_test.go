package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
	"github.com/burngen/burngen/runtime/rt"
)

// atEachLevel runs body at every level of the machine.
func atEachLevel(t *testing.T, body func(t *testing.T)) {
	for _, l := range cpu.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer cpu.SetLevel(l)()
			if got := cpu.CurrentLevel(); got != l {
				t.Fatalf("the level is %v, want %v", got, l)
			}
			body(t)
		})
	}
}

func TestMatMul(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.MatMul(t, matrixProduct(cpu.MatMul)) })
}

func TestMatMulRows(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.MatMulRows(t, matrixProduct(cpu.MatMul)) })
}

func TestMatMulOfNarrowWeights(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		t.Run("f16", func(t *testing.T) { kerneltest.MatMul(t, matrixProduct(cpu.MatMulNarrow[rt.Float16])) })
		t.Run("bf16", func(t *testing.T) { kerneltest.MatMul(t, matrixProduct(cpu.MatMulNarrow[rt.BFloat16])) })
	})
}

func TestConv(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Conv(t, conv) })
}

func TestParts(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Parts(t, matrixProduct(cpu.MatMul), conv) })
}

func TestConvData(t *testing.T) {
	data := func(dst, g, weights []float32, s *kerneltest.ConvShape) {
		cpu.ConvData(dst, g, weights, (*cpu.ConvShape)(s))
	}
	pack := func(dst, w []float32, s *kerneltest.ConvShape) { cpu.PackConvData(dst, w, (*cpu.ConvShape)(s)) }
	atEachLevel(t, func(t *testing.T) { kerneltest.ConvData(t, data, pack) })
}

func TestConvWeightsBlocked(t *testing.T) {
	weights := func(dst, x, g, scratch []float32, s *kerneltest.ConvShape) {
		cpu.ConvWeightsBlocked(dst, x, g, scratch, (*cpu.ConvShape)(s))
	}
	atEachLevel(t, func(t *testing.T) { kerneltest.ConvWeights(t, weights, cpu.ConvWeightsBlockedRoom) })
}

func TestDepthwiseConv(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.DepthwiseConv(t, depthwise) })
}

func TestDepthwisePlanar(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.DepthwisePlanar(t, depthwisePlanar) })
}

func TestWinograd(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Winograd(t, winograd) })
}

func TestPool(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Pool(t, pool(cpu.MaxPool), pool(cpu.AveragePool)) })
}

func TestMaxPoolGrad(t *testing.T) {
	grad := func(dst, x, g []float32, s *kerneltest.PoolShape) { cpu.MaxPoolGrad(dst, x, g, (*cpu.PoolShape)(s)) }
	atEachLevel(t, func(t *testing.T) { kerneltest.MaxPoolGrad(t, grad) })
}

func TestGlobalAveragePool(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.GlobalAveragePool(t, cpu.GlobalAveragePool) })
}

func TestBlock(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Block(t, cpu.Block, cpu.Unblock, cpu.PadBlocked) })
}

func TestChannels(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		kerneltest.Channels(t, cpu.ChannelMoments, cpu.ChannelSums, cpu.ChannelMix)
	})
}

func TestGatherChannels(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		kerneltest.GatherChannels(t, cpu.GatherChannels[float32])
		kerneltest.GatherChannels(t, cpu.GatherChannels[uint8])
	})
}

func TestLRN(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.LRN(t, cpu.LRN, cpu.Block, cpu.Unblock) })
}

// A slice that is too short must stop a kernel before it touches memory.
func TestShortSlicesPanic(t *testing.T) {
	f := func(n int) []float32 { return make([]float32, n) }
	mul := &cpu.MatMulShape{M: 3, N: 20, K: 5, LDA: 5, LDC: 20, Batch: 2, StrideA: 15, StrideB: 160, StrideC: 60}
	row := &cpu.MatMulShape{M: 1, N: 20, K: 5, LDA: 5, LDC: 20, Batch: 1}
	rows := &cpu.MatMulShape{M: 3, N: 16, K: 5, LDA: 5, LDC: 16, Batch: 2, StrideA: 15, StrideB: 80, StrideC: 48, LDB: 16, RowBias: true}
	ragged := &cpu.MatMulShape{M: 3, N: 20, K: 5, LDA: 5, LDC: 20, Batch: 1, LDB: 20}
	conv := &cpu.ConvShape{N: 1, InC: 16, InH: 4, InW: 5, InBlock: 16, OutC: 16, OutH: 2, OutW: 3, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, Group: 1}
	flat := *conv
	flat.InBlock, flat.Group = 1, 16
	large := flat
	large.KH, large.KW, large.PadH, large.PadW = 10, 13, 9, 12
	wino := &cpu.WinogradShape{N: 1, InC: 16, InH: 4, InW: 5, OutC: 16, OutH: 4, OutW: 5, Top: 1, Left: 1, Group: 1, Tile: 2}
	room := cpu.WinogradScratch(wino, 1, min(6, cpu.TileRows()))
	negative := *conv
	negative.PadW = -1
	pool := &cpu.PoolShape{N: 1, C: 1, InH: 4, InW: 4, OutH: 2, OutW: 2, KH: 2, KW: 2, StrideH: 2, StrideW: 2, DilH: 1, DilW: 1, Block: 16}
	for name, call := range map[string]func(){
		"MatMul dst":           func() { cpu.MatMul(f(119), f(30), f(320), mul, nil) },
		"MatMul a":             func() { cpu.MatMul(f(120), f(29), f(320), mul, nil) },
		"MatMul panels":        func() { cpu.MatMul(f(120), f(30), f(319), mul, nil) },
		"MatMul row dst":       func() { cpu.MatMul(f(19), f(5), f(160), row, nil) },
		"MatMul row a":         func() { cpu.MatMul(f(20), f(4), f(160), row, nil) },
		"MatMul row panels":    func() { cpu.MatMul(f(20), f(5), f(159), row, nil) },
		"MatMul row bias":      func() { cpu.MatMul(f(20), f(5), f(160), row, &cpu.Epilogue{Bias: f(20)}) },
		"MatMul row residual":  func() { cpu.MatMul(f(20), f(5), f(160), row, &cpu.Epilogue{Residual: f(19)}) },
		"MatMul row of f16":    func() { cpu.MatMulNarrow(f(20), f(5), make([]rt.Float16, 159), row, nil) },
		"MatMul bias":          func() { cpu.MatMul(f(120), f(30), f(320), mul, &cpu.Epilogue{Bias: f(20)}) },
		"MatMul residual":      func() { cpu.MatMul(f(120), f(30), f(320), mul, &cpu.Epilogue{Residual: f(119)}) },
		"MatMul rows":          func() { cpu.MatMul(f(120), f(30), f(159), rows, nil) },
		"MatMul rows' bias":    func() { cpu.MatMul(f(120), f(30), f(160), rows, &cpu.Epilogue{Bias: f(15)}) },
		"MatMul part of lanes": func() { cpu.MatMul(f(120), f(30), f(320), ragged, nil) },
		"PackPanels dst":       func() { cpu.PackPanels(f(159), f(100), 5, 20, 20, false, 1, 0) },
		"PackPanels b":         func() { cpu.PackPanels(f(160), f(99), 5, 20, 20, false, 1, 0) },
		"Conv dst":             func() { cpu.Conv(f(95), f(320), f(2304), conv, nil) },
		"Conv src":             func() { cpu.Conv(f(96), f(319), f(2304), conv, nil) },
		"Conv weights":         func() { cpu.Conv(f(96), f(320), f(2303), conv, nil) },
		"Winograd dst":         func() { cpu.Winograd(f(319), f(320), f(4096), f(room), wino, nil) },
		"Winograd src":         func() { cpu.Winograd(f(320), f(319), f(4096), f(room), wino, nil) },
		"Winograd weights":     func() { cpu.Winograd(f(320), f(320), f(4095), f(room), wino, nil) },
		"Winograd scratch":     func() { cpu.Winograd(f(320), f(320), f(4096), f(room-1), wino, nil) },
		"Conv padding":         func() { cpu.Conv(f(96), f(320), f(2304), &negative, nil) },
		"DepthwiseConv dst":    func() { cpu.DepthwiseConv(f(95), f(320), f(144), conv, nil) },
		"DepthwiseConv src":    func() { cpu.DepthwiseConv(f(96), f(319), f(144), conv, nil) },
		"DepthwiseConv w":      func() { cpu.DepthwiseConv(f(96), f(320), f(143), conv, nil) },
		"MaxPool dst":          func() { cpu.MaxPool(f(63), f(256), pool) },
		"AveragePool src":      func() { cpu.AveragePool(f(64), f(255), pool) },
		"GlobalAveragePool":    func() { cpu.GlobalAveragePool(f(16), f(255), 1, 1, 16, 16) },
		"LRN":                  func() { cpu.LRN(f(64), f(63), 1, 16, 4, 16, 5, 1, 0.75, 1) },
		"Block":                func() { cpu.Block(f(63), f(12), 1, 3, 2, 2) },
		"Unblock":              func() { cpu.Unblock(f(12), f(63), 1, 3, 2, 2) },
		"GatherChannels dst":   func() { cpu.GatherChannels(f(31), []int32{2}, 1, 2, []int{3}, f(32)) },
		"GatherChannels src":   func() { cpu.GatherChannels(f(32), []int32{2}, 1, 2, []int{3}, f(31)) },
		"GatherChannels of":    func() { cpu.GatherChannels(f(32), []int32{3}, 1, 2, []int{3}, f(32)) },
		"GatherChannels bytes": func() { cpu.GatherChannels(make([]uint8, 32), []int32{2}, 1, 2, []int{3}, make([]uint8, 31)) },
		"PadBlocked":           func() { cpu.PadBlocked(f(255), f(64), 1, 1, 2, 2, [4]int{1, 1, 1, 1}, 0) },
		"PadBlocked negative":  func() { cpu.PadBlocked(f(255), f(64), 1, 1, 2, 2, [4]int{0, 0, 0, -1}, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

func FuzzMatMul(f *testing.F) {
	f.Add(uint8(5), uint8(33), uint16(17), uint8(1), uint8(15), uint32(1))
	f.Add(uint8(30), uint8(100), uint16(600), uint8(2), uint8(0), uint32(2))
	f.Fuzz(func(t *testing.T, m, n uint8, k uint16, batch, bits uint8, seed uint32) {
		c := kerneltest.MatMulCase{
			M: 1 + int(m)%64, N: 1 + int(n)%128, K: int(k) % 1200, Batch: 1 + int(batch)%3,
			PadA: int(seed % 3), PadB: int(seed / 3 % 3), PadC: int(seed / 9 % 3), Shift: int(seed / 27 % 16),
			SharedA: seed/432%4 == 1, SharedB: seed/432%4 == 2, Trans: seed/1728%2 == 1, Epilogue: int(bits), Seed: seed,
			Terms: int(seed / 3456 % 4 * 50),
		}
		atEachLevel(t, func(t *testing.T) {
			kerneltest.CheckMatMul(t, matrixProduct(cpu.MatMul), c)
			kerneltest.CheckMatMul(t, matrixProduct(cpu.MatMulNarrow[rt.Float16]), c)
			kerneltest.CheckMatMul(t, matrixProduct(cpu.MatMulNarrow[rt.BFloat16]), c)
		})
	})
}

func FuzzWinograd(f *testing.F) {
	f.Add(uint8(20), uint8(33), uint8(9), uint8(12), uint8(5), uint8(15), uint32(1))
	f.Add(uint8(16), uint8(16), uint8(20), uint8(70), uint8(0), uint8(0), uint32(67))
	f.Fuzz(func(t *testing.T, in, out, h, w, pads, bits uint8, seed uint32) {
		c := kerneltest.WinogradCase{Epilogue: int(bits), Shift: int(seed % 16), Seed: seed, Tiles: 14 + int(seed/64%16)}
		s := &c.Shape
		s.N, s.Group = 1+int(seed/16%2), 1+int(seed/32%2)
		s.InC, s.OutC = 1+int(in)%40, 1+int(out)%40
		if s.Group > 1 {
			s.InC, s.OutC = 16*s.Group, 32*s.Group
		}
		s.InH, s.InW, s.Top, s.Left = int(h)%20, int(w)%70, int(pads)%3, int(pads)/3%3
		s.OutH, s.OutW = s.InH+1+int(pads)/9%3, s.InW+1+int(pads)/27%3
		atEachLevel(t, func(t *testing.T) { kerneltest.CheckWinograd(t, winograd, c) })
	})
}

func FuzzConv(f *testing.F) {
	f.Add(uint8(20), uint8(33), uint8(3), uint8(3), uint8(9), uint8(12), uint8(0), uint8(15), uint32(1))
	f.Add(uint8(3), uint8(16), uint8(7), uint8(5), uint8(20), uint8(30), uint8(7), uint8(0), uint32(3))
	f.Fuzz(func(t *testing.T, in, out, kh, kw, h, w, steps, bits uint8, seed uint32) {
		c := kerneltest.ConvCase{Epilogue: int(bits), Shift: int(seed % 16), Seed: seed}
		s := &c.Shape
		s.N, s.Group = 1+int(seed/16%2), 1+int(seed/32%4)
		s.InC, s.OutC = s.Group*(1+int(in)%40), s.Group*(1+int(out)%40)
		s.InBlock = 1 + 15*int(seed/128%2)
		s.KH, s.KW = 1+int(kh)%5, 1+int(kw)%5
		s.StrideH, s.StrideW, s.DilH, s.DilW = 1+int(steps)%2, 1+int(steps)/2%3, 1+int(steps)/6%3, 1+int(steps)/18%3
		s.InH, s.InW = (s.KH-1)*s.DilH+1+int(h)%20, (s.KW-1)*s.DilW+1+int(w)%40
		s.PadH, s.PadW, c.End = int(seed/256%4), int(seed/1024%4), int(seed/4096%4)
		s.Terms = int(seed / 16384 % 4 * 100)
		atEachLevel(t, func(t *testing.T) { kerneltest.CheckConv(t, conv, c) })
	})
}

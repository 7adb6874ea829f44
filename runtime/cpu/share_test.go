package cpu

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/rt"
)

// shared returns operators that are large enough to be shared. Each has its result and the shares
// it can be split into.
func shared() map[string]struct {
	dst  []float32
	run  func(dst []float32)
	task func(dst []float32) rt.Task
} {
	type operator = struct {
		dst  []float32
		run  func(dst []float32)
		task func(dst []float32) rt.Task
	}
	ep := &Epilogue{Bias: random(512, 9), Clamp: true, Lo: -1, Hi: 1}
	all := map[string]operator{}
	for _, size := range [][4]int{{1, 500, 512, 1}, {3, 500, 200, 1}, {130, 70, 90, 1}, {500, 64, 100, 1}, {31, 40, 300, 1}, {17, 33, 50, 5}} {
		s := &MatMulShape{M: size[0], N: size[1], K: size[2], Batch: size[3], LDA: size[2], LDC: size[1]}
		s.StrideA, s.StrideB, s.StrideC = s.M*s.K, PanelsLen(s.K, s.N), s.M*s.N
		a, b := random(s.Batch*s.StrideA, 1), random(s.Batch*s.StrideB, 2)
		all[fmt.Sprint("MatMul ", size)] = operator{
			make([]float32, s.Batch*s.StrideC),
			func(dst []float32) { MatMul(dst, a, b, s, ep) },
			func(dst []float32) rt.Task {
				p := &product{MatMulShape: *s, dst: dst, a: a, panels: unsafe.Pointer(&b[0]), ep: *ep}
				p.plan()
				return p
			},
		}
	}
	{
		s := &MatMulShape{M: 1, N: 700, K: 300, LDA: 300, LDC: 700, Batch: 1}
		a, b := random(s.K, 1), make([]rt.Float16, PanelsLen(s.K, s.N))
		Cast(b, random(len(b), 2))
		all["MatMul of one row and f16"] = operator{
			make([]float32, s.N),
			func(dst []float32) { MatMulNarrow(dst, a, b, s, nil) },
			func(dst []float32) rt.Task {
				p := &product{MatMulShape: *s, dst: dst, a: a, panels: unsafe.Pointer(&b[0]), kind: narrowKind[rt.Float16]()}
				p.plan()
				return p
			},
		}
	}
	for _, s := range []ConvShape{square(16, 58, 16, 48, 3, 1), square(20, 7, 16, 200, 3, 1), square(60, 41, 16, 70, 1, 1), square(3, 63, 1, 17, 5, 2),
		rimmed(3, 32, 1, 12, 5, 1), rimmed(12, 30, 16, 12, 5, 1), rimmed(20, 15, 16, 40, 3, 1), rimmed(20, 29, 16, 40, 3, 2), rimmed(40, 7, 16, 200, 3, 1), rimmed(20, 15, 16, 20, 3, 1).row(), rimmed(20, 4, 16, 200, 3, 1),
		dilated(20, 24, 40, 7), dilated(20, 24, 40, 13), dilated(40, 20, 100, 30), dilated(20, 40, 20, 15).row(), dilated(20, 7, 100, 4)} {
		s.N = 2
		if s.OutW <= fewColumns {
			s.N = 2 * manyImages
		}
		src, w := random(s.N*s.inBlocks()*s.InH*s.InW*s.InBlock, 1), random(ConvWeightsLen(&s), 2)
		all[fmt.Sprint("Conv ", s)] = operator{
			make([]float32, s.N*s.outBlocks()*s.OutH*s.OutW*16),
			func(dst []float32) { Conv(dst, src, w, &s, ep) },
			func(dst []float32) rt.Task {
				c := newConv(dst, src, w, &s, ep)
				return &c
			},
		}
	}
	for _, size := range [][3]int{{32, 48, 40}, {64, 200, 7}} {
		for _, tile := range []int{2, 4} {
			s := &WinogradShape{N: 2, InC: size[0], InH: size[2], InW: size[2], OutC: size[1], OutH: size[2], OutW: size[2], Top: 1, Left: 1, Group: 1, Tile: tile}
			src, w := random(s.N*s.inBlocks()*s.InH*s.InW*16, 1), random(WinogradWeightsLen(s), 2)
			scratch := rooms(WinogradScratch(s, 8, 100))
			all[fmt.Sprint("Winograd ", size, tile)] = operator{
				make([]float32, s.N*s.outBlocks()*s.OutH*s.OutW*16),
				func(dst []float32) { Winograd(dst, src, w, scratch(dst), s, ep) },
				func(dst []float32) rt.Task {
					c := newWinograd(dst, src, w, scratch(dst), s, ep)
					return &c
				},
			}
		}
	}
	d := square(40, 58, 16, 40, 3, 1)
	d.Group = 40
	src, w := random(3*58*58*16, 1), random(DepthwiseWeightsLen(&d), 2)
	for kind, name := range []string{layerNorms: "LayerNorm", rmsNorms: "RMSNorm", softmaxes: "Softmax", logSoftmaxes: "LogSoftmax"} {
		t := rowTask{kind: rowKind(kind), src: random(300*301, 1), scale: random(301, 2), n: 301, eps: 1e-5}
		if t.kind == layerNorms {
			t.bias = random(301, 3)
		}
		all[name] = operator{
			make([]float32, len(t.src)),
			func(dst []float32) {
				switch t.kind {
				case layerNorms:
					LayerNorm(dst, t.src, t.scale, t.bias, 300, 301, 1e-5)
				case rmsNorms:
					RMSNorm(dst, t.src, t.scale, 300, 301, 1e-5)
				case softmaxes:
					Softmax(dst, t.src, 300, 301, 1)
				case logSoftmaxes:
					LogSoftmax(dst, t.src, 300, 301, 1)
				}
			},
			func(dst []float32) rt.Task {
				t.dst = dst
				return &t
			},
		}
	}
	groups := groupNorm{src: random(6*24*301, 1), scale: random(24, 2), bias: random(24, 3), groups: 8, channels: 3, pixels: 301, eps: 1e-5}
	all["GroupNorm"] = operator{
		make([]float32, len(groups.src)),
		func(dst []float32) { GroupNorm(dst, groups.src, groups.scale, groups.bias, 6, 8, 24, 301, 1e-5) },
		func(dst []float32) rt.Task {
			groups.dst = dst
			return &groups
		},
	}
	heads := &AttentionShape{
		Batch: 1, Heads: 6, Shared: 3, Queries: 150, Keys: 150, Depth: 16, Width: 20, Before: -1, Scale: 0.25,
		Q: [4]int{0, 0, 16, 96}, K: [4]int{0, 0, 16, 48}, V: [4]int{0, 0, 20, 60}, Y: [4]int{0, 0, 20, 120},
	}
	q, k, v := random(150*96, 4), random(150*48, 5), random(150*60, 6)
	own := make(chan []float32, 4) // scratch memory; each call takes its own
	for range cap(own) {
		own <- make([]float32, 16*AttentionScratch(150, 16, 20))
	}
	scratch := make([]float32, 16*AttentionScratch(150, 16, 20))
	all["Attention"] = operator{
		make([]float32, 150*120),
		func(dst []float32) {
			scratch := <-own
			Attention(dst, q, k, v, scratch, heads, nil)
			own <- scratch
		},
		func(dst []float32) rt.Task {
			p := &attention{AttentionShape: *heads, dst: dst, q: q, k: k, v: v, scratch: scratch, each: AttentionScratch(150, 16, 20)}
			p.plan()
			return p
		},
	}
	all["DepthwiseConv"] = operator{
		make([]float32, 3*56*56*16),
		func(dst []float32) { DepthwiseConv(dst, src, w, &d, ep) },
		func(dst []float32) rt.Task {
			task := newDepthwise(dst, src, w, &d, ep)
			return &task
		},
	}
	whole := d
	whole.InBlock = 1
	all["DepthwisePlanar"] = operator{
		make([]float32, 40*56*56),
		func(dst []float32) { DepthwisePlanar(dst, src, w, &whole, ep) },
		func(dst []float32) rt.Task {
			task := newDepthwisePlanar(dst, src, w, &whole, ep)
			return &task
		},
	}
	s := PoolShape{N: 1, C: 3, InH: 58, InW: 58, OutH: 57, OutW: 57, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, PadH: 1, PadW: 1, Block: 16}
	all["MaxPool"] = operator{
		make([]float32, 3*57*57*16),
		func(dst []float32) { MaxPool(dst, src, &s) },
		func(dst []float32) rt.Task { return &pool{PoolShape: s, dst: dst, src: src, op: largest} },
	}
	all["AveragePool"] = operator{
		make([]float32, 3*57*57*16),
		func(dst []float32) { AveragePool(dst, src, &s) },
		func(dst []float32) rt.Task { return &pool{PoolShape: s, dst: dst, src: src, op: scaledSum} },
	}
	all["GlobalAveragePool"] = operator{
		make([]float32, 9*16),
		func(dst []float32) { GlobalAveragePool(dst, src, 1, 9, 58*19, 16) },
		func(dst []float32) rt.Task { return &planeMeans{dst: dst, src: src[:9*58*19*16]} },
	}
	planar := PoolShape{N: 3, C: 16, InH: 58, InW: 58, OutH: 57, OutW: 57, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, PadH: 1, PadW: 1, Block: 1}
	all["MaxPoolGrad"] = operator{
		make([]float32, 3*16*58*58),
		func(dst []float32) { MaxPoolGrad(dst, src, src, &planar) },
		func(dst []float32) rt.Task { return &poolGrad{PoolShape: planar, dst: dst, x: src, g: src} },
	}
	of := ConvShape{N: 1, InC: 48, InH: 58, InW: 58, InBlock: 1, OutC: 40, OutH: 29, OutW: 58, KH: 3, KW: 3, StrideH: 2, StrideW: 1, DilH: 1, DilW: 1, PadH: 1, PadW: 1, Group: 2}
	room := rooms(ConvWeightsParts * ConvWeightsScratch(29*58))
	all["ConvWeights"] = operator{
		make([]float32, 40*24*9),
		func(dst []float32) { ConvWeights(dst, src, src, room(dst), &of) },
		func(dst []float32) rt.Task { w := newConvWeights(dst, src, src, room(dst), &of); return &w },
	}
	for _, s := range []ConvShape{rimmed(40, 15, 16, 200, 3, 1), rimmed(40, 13, 16, 60, 3, 2), rimmed(60, 4, 16, 200, 3, 1)} {
		s.N = 5
		g, w := random(s.N*s.outBlocks()*s.OutH*s.OutW*16, 1), random(ceil(s.InC, 16)*s.outBlocks()*s.KH*s.KW*256, 2)
		all[fmt.Sprint("ConvData ", s)] = operator{
			make([]float32, s.N*ceil(s.InC, 16)*s.InH*s.InW*16),
			func(dst []float32) { ConvData(dst, g, w, &s) },
			func(dst []float32) rt.Task { d := newConvData(dst, g, w, &s); return &d },
		}
		all[fmt.Sprint("PackConvData ", s)] = operator{
			make([]float32, len(w)),
			func(dst []float32) { PackConvData(dst, w, &s) },
			func(dst []float32) rt.Task { return &dataPacking{ConvShape: s, dst: dst, w: w} },
		}
	}
	for _, s := range []ConvShape{rimmed(40, 15, 16, 200, 3, 1), rimmed(40, 13, 16, 60, 3, 2), rimmed(40, 4, 16, 200, 3, 1), rimmed(200, 7, 16, 200, 3, 2)} {
		s.N = 5
		x, g := random(s.N*ceil(s.InC, 16)*s.InH*s.InW*16, 1), random(s.N*s.outBlocks()*s.OutH*s.OutW*16, 2)
		room := rooms(len(x) + len(g) + 16*ConvWeightsBlockedRoom(9))
		all[fmt.Sprint("ConvWeightsBlocked ", s)] = operator{
			make([]float32, s.OutC*s.InC*9),
			func(dst []float32) { ConvWeightsBlocked(dst, x, g, room(dst), &s) },
			func(dst []float32) rt.Task {
				w := newBlockedWeights(dst, x, g, room(dst), &s)
				if p, ok := newWeightsInPlace(&w, room(dst)); ok && !w.movesPay() {
					return finished{&p, dst}
				}
				w.moves = true
				w.Part(0, 1)
				w.moves = false
				return &w
			},
		}
	}
	channels := func(work channelWork, dst []float32) channelTask {
		s := newChannelTask(3, 72, 11*58)
		s.dst, s.g, s.x, s.factors, s.work = dst, src, src, w, work
		return s
	}
	for work, call := range map[channelWork]func(dst []float32){
		momentsOfChannels: func(dst []float32) { ChannelMoments(dst, src, 3, 72, 11*58) },
		sumsOfChannels:    func(dst []float32) { ChannelSums(dst, src, src, w, 3, 72, 11*58) },
		mixOfChannels:     func(dst []float32) { ChannelMix(dst, src, src, w, 3, 72, 11*58) },
	} {
		size := 2 * 72
		if work == mixOfChannels {
			size = 3 * 5 * 11 * 58 * 16
		}
		all[fmt.Sprint("channels ", work)] = operator{
			make([]float32, size), call,
			func(dst []float32) rt.Task { s := channels(work, dst); return &s },
		}
	}
	dims, strides := []int{48, 58, 58}, []int{58, 48 * 58, 1}
	for _, scatters := range []bool{false, true} {
		copies := stridedCopy{src: src, n: 48, s: 58, rank: 2, dims: [6]int{58, 58}, strides: [6]int{48 * 58, 1}, scatters: scatters}
		run := StridedCopy[float32]
		if scatters {
			run = ScatterStrided[float32]
		}
		all[fmt.Sprint("strided ", scatters)] = operator{
			make([]float32, 48*58*58),
			func(dst []float32) { run(dst, src, dims, strides, 0) },
			func(dst []float32) rt.Task {
				copies.dst = dst
				return &copies
			},
		}
	}
	all["LRN"] = operator{
		make([]float32, len(src)),
		func(dst []float32) { LRN(dst, src, 1, 48, 58*58, 16, 5, 1, 0.75, 1) },
		func(dst []float32) rt.Task {
			return &lrn{dst: dst, src: src, planes: 3, c: 48, blocks: 3, hw: 58 * 58, block: 16, size: 5, scale: 1. / 5, beta: 0.75, bias: 1}
		},
	}
	for _, size := range [][3]int{{7, 16, 64}, {3, 28, 96}} {
		steps, batch, hidden := size[0], size[1], size[2]
		x, weights, candidate := random(steps*batch*4*hidden, 1), random(PanelsLen(hidden, 4*hidden), 2), random(PanelsLen(hidden, hidden), 3)
		rooms := make(chan [5][]float32, 4) // states, gates, and results of all steps; each call takes its own
		for range cap(rooms) {
			rooms <- [5][]float32{
				make([]float32, batch*hidden), make([]float32, batch*hidden), make([]float32, batch*4*hidden),
				make([]float32, steps*batch*hidden), make([]float32, steps*batch*hidden),
			}
		}
		layer := func(gates int, y []float32) recurrence[float32] {
			return recurrence[float32]{
				steps: steps, batch: batch, hidden: hidden, gates: gates * hidden, y: y, x: x, weights: weights,
				h: make([]float32, batch*hidden), scratch: make([]float32, batch*gates*hidden),
			}
		}
		sigmoid, tanh := function{name: "sigmoid"}, function{name: "tanh"}
		y := make([]float32, steps*batch*hidden)
		all[fmt.Sprint("RNN ", size)] = operator{
			y,
			func(dst []float32) {
				room := <-rooms
				_ = RNN(context.Background(), dst, room[0], x, weights, nil, nil, room[2], steps, batch, hidden, false, 0, "tanh", 0, 0)
				rooms <- room
			},
			func(dst []float32) rt.Task { return &rnn[float32]{layer(1, dst), tanh} },
		}
		all[fmt.Sprint("LSTM ", size)] = operator{
			slices.Clone(y),
			func(dst []float32) {
				room := <-rooms
				_ = LSTM(context.Background(), dst, room[0], room[1], x, weights, nil, nil, nil, nil, room[2], steps, batch, hidden, false, false, 0, "sigmoid", 0, 0, "tanh", 0, 0, "tanh", 0, 0)
				rooms <- room
			},
			func(dst []float32) rt.Task {
				r := layer(4, dst)
				return &lstm[float32]{recurrence: r, c: make([]float32, len(r.h)), f: sigmoid, g: tanh, e: tanh}
			},
		}
		gates, cells, initial := random(steps*batch*4*hidden, 4), random(steps*batch*hidden, 5), random(batch*hidden, 6)
		back := random(PanelsLen(4*hidden, hidden), 7)
		all[fmt.Sprint("LSTMTrace ", size)] = operator{
			slices.Clone(x),
			func(dst []float32) {
				room := <-rooms
				_ = LSTMTrace(context.Background(), room[3], room[0], room[1], dst, room[4], x, weights, nil, initial, nil, steps, batch, hidden, false)
				rooms <- room
			},
			func(dst []float32) rt.Task {
				r := layer(4, make([]float32, len(y)))
				r.scratch, r.keeps = dst, true
				copy(r.h, initial)
				return &lstm[float32]{recurrence: r, c: make([]float32, len(r.h)), cells: make([]float32, len(y)), f: sigmoid, g: tanh, e: tanh}
			},
		}
		all[fmt.Sprint("LSTMGrad ", size)] = operator{
			slices.Clone(x),
			func(dst []float32) {
				room := <-rooms
				_ = LSTMGrad(context.Background(), dst, room[0], room[1], gates, cells, back, nil, nil, cells, initial, nil, steps, batch, hidden, false)
				rooms <- room
			},
			func(dst []float32) rt.Task {
				r := layer(4, nil)
				r.scratch, r.keeps, r.weights = dst, true, back
				copy(dst, gates)
				copy(r.h, initial)
				return &lstmGrad[float32]{recurrence: r, c: make([]float32, len(r.h)), cells: cells, dy: cells}
			},
		}
		all[fmt.Sprint("GRUTrace ", size)] = operator{
			slices.Clone(x)[:steps*batch*3*hidden],
			func(dst []float32) {
				room := <-rooms
				_ = GRUTrace(context.Background(), room[3], room[0], dst, room[4], x, weights, candidate, nil, initial, nil, steps, batch, hidden, false, true)
				rooms <- room
			},
			func(dst []float32) rt.Task {
				r := layer(3, make([]float32, len(y)))
				r.scratch, r.keeps = dst, true
				copy(r.h, initial)
				return &gru[float32]{recurrence: r, spare: make([]float32, len(y)), candidate: candidate, linear: true, f: sigmoid, g: tanh}
			},
		}
		for _, linear := range []bool{false, true} {
			all[fmt.Sprint("GRUGrad ", size, linear)] = operator{
				slices.Clone(x)[:steps*batch*3*hidden],
				func(dst []float32) {
					room := <-rooms
					_ = GRUGrad(context.Background(), dst, room[3], room[0], gates, cells, cells, back, candidate, nil, cells, initial, steps, batch, hidden, false, linear)
					rooms <- room
				},
				func(dst []float32) rt.Task {
					r := layer(3, nil)
					r.scratch, r.keeps, r.weights = dst, true, back
					copy(dst, gates)
					copy(r.h, initial)
					return &gruGrad[float32]{recurrence: r, candidate: candidate, linear: linear, before: cells, dk: slices.Clone(cells), dy: cells}
				},
			}
		}
		all[fmt.Sprint("GRU ", size)] = operator{
			slices.Clone(y),
			func(dst []float32) {
				room := <-rooms
				_ = GRU(context.Background(), dst, room[0], x, weights, candidate, nil, nil, nil, room[2], room[1], steps, batch, hidden, false, true, 0, "sigmoid", 0, 0, "tanh", 0, 0)
				rooms <- room
			},
			func(dst []float32) rt.Task {
				r := layer(3, dst)
				return &gru[float32]{recurrence: r, spare: make([]float32, len(r.h)), candidate: candidate, linear: true, f: sigmoid, g: tanh}
			},
		}
	}
	return all
}

// rimmed returns a padded convolution with ⌈in/stride⌉ outputs along each axis.
func rimmed(inC, in, block, outC, kernel, stride int) ConvShape {
	s := square(inC, in, block, outC, kernel, stride)
	s.PadH, s.PadW = kernel/2, kernel/2
	s.OutH, s.OutW = (in-1)/stride+1, (in-1)/stride+1
	return s
}

// dilated returns a convolution of 3×3 with a dilation. Some taps are outside of the input in most
// windows.
func dilated(inC, in, outC, dil int) ConvShape {
	s := rimmed(inC, in, 16, outC, 3, 1)
	s.DilH, s.DilW, s.PadH, s.PadW = dil, dil, dil, dil
	return s
}

// row returns the convolution over a single row.
func (s ConvShape) row() ConvShape {
	s.InH, s.OutH, s.KH, s.PadH = 1, 1, 1, 0
	return s
}

// finished is a task that finishes with its last part.
type finished struct {
	*weightsInPlace
	dst []float32
}

func (f finished) Part(i, parts int) {
	if f.weightsInPlace.Part(i, parts); i == parts-1 {
		f.finish(f.dst)
	}
}

// The number of parts must not change a single bit.
func TestPartsAgree(t *testing.T) {
	counts := []int{2, 3, 4, 5, 6, 7}
	if testing.Short() {
		counts = []int{2, 7}
	}
	for _, l := range Levels() {
		for name, op := range shared() {
			t.Run(l.String()+" "+name, func(t *testing.T) {
				defer SetLevel(l)()
				op.run(op.dst)
				for _, parts := range counts {
					got := make([]float32, len(op.dst))
					task := op.task(got)
					for i := range parts {
						task.Part(i, parts)
					}
					if !slices.Equal(got, op.dst) {
						t.Fatalf("%d parts give another result", parts)
					}
				}
			})
		}
	}
}

func TestPoolOfWorkersAgrees(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, op := range shared() {
		op.run(op.dst)
		for threads, calls := range map[int]int{2: 5, 3: 5, 4: 10, 7: 3, 16: 3, 40: 3} {
			t.Run(fmt.Sprint(name, " ", threads), func(t *testing.T) {
				runtime.GOMAXPROCS(threads)
				defer rt.Threads(rt.Threads(threads))
				rt.Begin()
				defer rt.End()
				got := make([]float32, len(op.dst))
				for range calls {
					clear(got)
					op.run(got)
					if !slices.Equal(got, op.dst) {
						t.Fatal("the pool gives another result")
					}
				}
			})
		}
	}
}

// The parts of a grid are all its cells, each once.
func TestGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9)
		large := rapid.Int64Range(0, 1<<40)
		g := grid{
			images: n.Draw(t, "images"), strips: n.Draw(t, "strips"), lines: n.Draw(t, "lines"),
			weights: large.Draw(t, "weights"), inputs: large.Draw(t, "inputs"), work: large.Draw(t, "work"),
		}
		parts := rapid.IntRange(1, 200).Draw(t, "parts")
		times := make([]int, g.images*g.strips*g.lines)
		for i := range parts {
			g.portion(i, parts, func(image, l0, l1, s0, s1 int) {
				for s := s0; s < s1; s++ {
					for l := l0; l < l1; l++ {
						times[(image*g.strips+s)*g.lines+l]++
					}
				}
			})
		}
		if slices.ContainsFunc(times, func(n int) bool { return n != 1 }) {
			t.Fatalf("cells of images, strips and lines are in so many parts: %v", times)
		}
	})
}

// rooms returns a function that gives each result n elements of scratch memory of its own.
func rooms(n int) func(dst []float32) []float32 {
	var all sync.Map
	return func(dst []float32) []float32 {
		if room, ok := all.Load(&dst[0]); ok {
			return *room.(*[]float32)
		}
		room := make([]float32, n)
		all.Store(&dst[0], &room)
		return room
	}
}

// Two inferences may use the same kind of operator at once.
func TestOperatorsAtOnce(t *testing.T) {
	defer rt.Threads(rt.Threads(4))
	for name, op := range shared() {
		t.Run(name, func(t *testing.T) {
			op.run(op.dst)
			done := make(chan bool)
			for range 3 {
				go func() {
					rt.Begin()
					defer rt.End()
					same := true
					got := make([]float32, len(op.dst))
					for range 10 {
						op.run(got)
						same = same && slices.Equal(got, op.dst)
					}
					done <- same
				}()
			}
			for range 3 {
				if !<-done {
					t.Error("another result")
				}
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	for name, op := range shared() {
		t.Run(name, func(t *testing.T) {
			for _, begin := range []bool{false, true} {
				if begin {
					rt.Begin()
					defer rt.End()
				}
				if n := testing.AllocsPerRun(10, func() { op.run(op.dst) }); n != 0 {
					t.Errorf("%v allocations", n)
				}
			}
		})
	}
}

func TestPanicOfThenReachesTheCaller(t *testing.T) {
	s := &MatMulShape{M: 200, N: 200, K: 200, Batch: 1, LDA: 200, LDC: 200}
	a, b := random(200*200, 1), random(PanelsLen(200, 200), 2)
	ep := &Epilogue{Then: func([]float32, int, *[2][]float32) { panic("then") }}
	rt.Begin()
	defer rt.End()
	for range 3 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			MatMul(make([]float32, 200*200), a, b, s, ep)
		}()
	}
}

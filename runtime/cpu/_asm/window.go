package main

// window describes a kernel of windows over one channel block.
type window struct {
	name string
	doc  string
	init string // operand of the initial value of the accumulator; zero if empty
	// tap adds the element at src to acc. weight is a register with the tap's weights.
	tap      func(f *file, src, weight, acc string)
	weighted bool // whether each tap has a weight
	scaled   bool // whether the result is multiplied by the tile's scale
}

// windows writes the kernels of depthwise convolutions and pools. A tile is several pixels of one
// block of 16 channels. The loops of a tile go over the taps of the window. The registers are the
// same as in [tiles].
func windows(f *file) {
	lowest := f.words("lowest", 0xff800000)
	kinds := []window{
		{
			name: "depthwise", doc: "sums a window's elements, each times its weight",
			tap:      func(f *file, src, weight, acc string) { f.op("VFMADD231PS", src, weight, acc) },
			weighted: true,
		},
		{
			name: "windowSum", doc: "sums a window's elements and scales the sum",
			tap:    func(f *file, src, _, acc string) { f.op("VADDPS", src, acc, acc) },
			scaled: true,
		},
		{
			name: "windowMax", doc: "takes the largest of a window's elements",
			init: lowest,
			tap:  func(f *file, src, _, acc string) { f.op("VMAXPS", src, acc, acc) },
		},
	}
	for _, kind := range kinds {
		for _, s := range f.sets() {
			f.framed(tileFrame, kind.name+s.name+" "+kind.doc+", as windowRef does.", kind.name+s.name, "t *tile", "")
			f.load("t", "R14")
			f.enter()
			f.strides()
			f.op("MOVQ", "tile_rows(R14)", "CX")
			f.choose("CX", 1, s.rows, func(r int) string { return tileLabel(r, 1) })
			for r := 1; r <= s.rows; r++ {
				windowKernel(f, s, kind, r)
			}
		}
	}
	f.dispatch(dispatch{
		doc:      "runWindow calls the level's window kernel.",
		function: "runWindow(t *tile, op windowOp)", by: "op",
		kernels: []kernel{{when: "weightedSum", name: "depthwise"}, {when: "scaledSum", name: "windowSum"}, {name: "windowMax"}},
		args:    "t", otherwise: "windowRef(t, op)",
	})
}

func windowKernel(f *file, s isa, w window, rows int) {
	v := s.perTile
	weight := func(i int) string { return s.reg(rows*v + i) }
	next := tileLabel(rows, 1)
	f.mark(next)
	f.startTile(rows)
	f.op("MOVQ", bCur, "DI")
	for i := range rows * v {
		switch {
		case w.init == "":
			f.op(s.clear, s.reg(i), s.reg(i), s.reg(i))
		case i == 0:
			f.op("VBROADCASTSS", w.init, s.reg(0))
		default:
			f.op("VMOVAPS", s.reg(0), s.reg(i))
		}
	}
	f.nest(rows, w.weighted, func() {
		if w.weighted {
			for i := range v {
				f.op("VMOVUPS", at("DI", i*s.bytes), weight(i))
			}
			f.op("ADDQ", 64, "DI")
		}
		for r := range rows {
			for i := range v {
				w.tap(f, f.row(r, i*s.bytes), weight(i), s.reg(r*v+i))
			}
		}
		f.move(rows, 64)
	})
	if w.scaled {
		f.op("VBROADCASTSS", "tile_scale(R14)", weight(0))
		for i := range rows * v {
			f.op("VMULPS", weight(0), s.reg(i), s.reg(i))
		}
	}
	f.finish(s, rows, v, weight(0), weight(1), false)
	f.nextTile(next)
}

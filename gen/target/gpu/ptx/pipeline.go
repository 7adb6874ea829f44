package ptx

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// dynamic is the name of the shared memory of pipelined kernels.
const dynamic = "dynamic"

// swizzle is the alignment in bytes of shared arrays into which [kernel.CopyBox] copies.
const swizzle = 1024

// Dynamic returns the bytes of shared memory that a launch of a kernel needs beyond what the code declares. It is 0
// for kernels that are not pipelined.
func Dynamic(k *kernel.Kernel) int {
	if !k.IsPipelined() {
		return 0
	}
	_, bytes := k.Layout()
	return bytes + swizzle // to align it
}

// begin writes the start of a pipelined kernel. It computes the addresses of the shared arrays, declares the
// registers of the sums, and initialises the phase barriers. If k.Early is true, the kernel then lets the next
// launch start, and waits for the launch before it.
func (w *writer) begin(k *kernel.Kernel) {
	base := w.register(".b32", "shared")
	w.emit("mov.u32", base, dynamic)
	w.emit("add.u32", base, base, fmt.Sprint(swizzle-1))
	w.emit("and.b32", base, base, fmt.Sprint(-swizzle))
	offsets, _ := k.Layout()
	for i, s := range k.Shared {
		r := w.register(".b32", "array_"+s.Name)
		w.emit("add.u32", r, base, fmt.Sprint(offsets[i]))
		w.operands[s] = operand{text: r}
	}
	for _, s := range k.Sums {
		for i := range s.Len / 2 {
			w.sums[s] = append(w.sums[s], w.register(".f32", fmt.Sprint(s.Name, "_", i)))
		}
	}
	thread, p, ready := w.temp(".b32"), w.temp(".pred"), w.newLabel("ready")
	w.emit("mov.u32", thread, "%tid.x")
	w.emit("setp.ne.u32", p, thread, "0")
	w.emit("@"+p+" bra", ready)
	w.nested(func() {
		for _, s := range k.Shared {
			if s.Type.Space != kernel.Phases {
				continue
			}
			for i := range s.Len {
				w.emit("mbarrier.init.shared::cta.b64", fmt.Sprintf("[%s+%d]", w.use(s).text, 8*i), fmt.Sprint(s.Arrivals))
			}
		}
		w.emit("fence.mbarrier_init.release.cluster")
		w.emit("fence.proxy.async")
		for _, p := range k.Params {
			if o, ok := w.operands[p]; ok && p.Map != nil {
				w.emit("prefetch.tensormap", "["+o.text+"]")
			}
		}
	})
	w.label(ready)
	w.emit("bar.sync", "0")
	if k.Early {
		w.emit("griddepcontrol.launch_dependents")
		w.emit("griddepcontrol.wait")
	}
}

// group writes the index of the thread's group of [kernel.Group] threads. All threads of a warp get the index from
// the first thread, so that the driver knows that the index is the same in the whole warp.
func (w *writer) group(result *kernel.Value) {
	r := w.temp(".b32")
	w.emit("mov.u32", r, "%tid.x")
	w.emit("div.u32", r, r, fmt.Sprint(kernel.Group))
	w.emit("shfl.sync.idx.b32", w.define(result), r, "0", "31", "-1")
}

// groupBarrier writes a barrier of a group. Barrier 0 belongs to the block, and barrier 1 + g to group
// g.
func (w *writer) groupBarrier() {
	r := w.temp(".b32")
	w.emit("mov.u32", r, "%tid.x")
	w.emit("div.u32", r, r, fmt.Sprint(kernel.Group))
	w.emit("add.u32", r, r, "1")
	w.emit("bar.sync", r, fmt.Sprint(kernel.Group))
}

// registersOfBlock is the maximum number of registers that all threads of a block have together.
const registersOfBlock = 1 << 16

func (w *writer) registers(n int) {
	change := "inc"
	if n < registersOfBlock/w.threads {
		change = "dec"
	}
	w.emit("setmaxnreg."+change+".sync.aligned.u32", fmt.Sprint(n))
}

// place returns an operand, without brackets, for the address of element i of array. An element has `size` bytes.
func (w *writer) place(array, i *kernel.Value, size int) string {
	base, index := w.use(array).text, w.use(i)
	r := w.temp(".b32")
	w.emit("mad.lo.s32", r, index.text, fmt.Sprint(size), base)
	return r
}

func (w *writer) phase(array, i *kernel.Value) string { return "[" + w.place(array, i, 8) + "]" }

func (w *writer) arrive(in *kernel.Instr) {
	at := w.phase(in.Args[0], in.Args[1])
	if len(in.Args) == 2 {
		w.emit("mbarrier.arrive.shared::cta.b64", "_", at)
		return
	}
	w.emit("mbarrier.arrive.expect_tx.shared::cta.b64", "_", at, w.use(in.Args[2]).text)
}

func (w *writer) await(in *kernel.Instr) {
	at, parity := w.phase(in.Args[0], in.Args[1]), w.use(in.Args[2]).text
	p, again := w.temp(".pred"), w.newLabel("await")
	w.label(again)
	w.emit("mbarrier.try_wait.parity.shared::cta.b64", p, at, parity)
	w.emit("@!"+p+" bra", again)
}

// copyBox writes the copy of a box. The instruction takes the indices and the offsets of the last axis first.
func (w *writer) copyBox(in *kernel.Instr) {
	m := in.Args[2].Map
	var at, offsets []string
	for i, v := range in.Args[5:] {
		if i < len(m.Extents) {
			at = append(at, w.in(v))
			continue
		}
		short := w.temp(".b16")
		w.emit("cvt.u16.u32", short, w.in(v))
		offsets = append(offsets, short)
	}
	slices.Reverse(at)
	slices.Reverse(offsets)
	d := in.Args[0].Type.DType
	to, barrier := w.place(in.Args[0], in.Args[1], d.Size()), w.phase(in.Args[3], in.Args[4])
	operands, mode := []string{"[" + to + "]", "[" + w.use(in.Args[2]).text + ", " + group(at) + "]", barrier}, ""
	if m.Windows != nil {
		operands, mode = append(operands, group(offsets)), ".im2col"
	}
	w.emit(fmt.Sprintf("cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes", len(at), mode), operands...)
}

func (w *writer) multiplyTiles(in *kernel.Instr) {
	d, s := in.Args[0].Type.DType, in.Args[4]
	_, _, terms, _ := kernel.FactorsOfMatrix(d)
	typ := map[ir.DType]string{ir.F16: "f16", ir.BF16: "bf16", ir.F32: "tf32"}[d]
	a, b := w.tile(in.Args[0], in.Args[1], in.AcrossA), w.tile(in.Args[2], in.Args[3], in.AcrossB)
	operands := []string{group(w.sums[s]), a, b, w.in(in.Args[5]), "1", "1"}
	if d != ir.F32 {
		operands = append(operands, bit(in.AcrossA), bit(in.AcrossB))
	}
	w.fence()
	w.emit(fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s", s.Len, terms, typ, typ), operands...)
}

// fence makes the registers of sums and factors ready for the next product.
func (w *writer) fence() {
	if !w.fenced {
		w.emit("wgmma.fence.sync.aligned")
		w.fenced = true
	}
}

// multiplyHeld writes a [kernel.MultiplyHeld]. The instruction takes the words of the left factor in their order.
func (w *writer) multiplyHeld(in *kernel.Instr) {
	d, s := in.Args[0].Type.DType, in.Args[2]
	b := w.tile(in.Args[0], in.Args[1], in.AcrossB)
	var held []string
	for _, v := range in.Args[4:] {
		held = append(held, w.in(v))
	}
	keep := w.in(in.Args[3])
	w.fence()
	w.emit(fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s", s.Len, d, d),
		group(w.sums[s]), group(held), b, keep, "1", "1", bit(in.AcrossB))
}

func bit(x bool) string {
	if x {
		return "1"
	}
	return "0"
}

// tile returns a register with the descriptor of a tile that begins at element `first` of array. The descriptor has
// the mode of the swizzle and three numbers in units of 16 bytes: the address, the distance between blocks of 64
// columns, and the distance between blocks of 8 rows. across is AcrossA or AcrossB of [kernel.MultiplyTiles].
func (w *writer) tile(array, first *kernel.Value, across bool) string {
	const unit, columns, rows, swizzle128 = 16, 64 * 128, 1024, 1 << 62
	fixed := uint64(1<<16 | rows/unit<<32 | swizzle128)
	if across {
		fixed = columns/unit<<16 | rows/unit<<32 | swizzle128
	}
	at := w.place(array, first, array.Type.DType.Size())
	low, d := w.temp(".b32"), w.temp(".b64")
	w.emit("bfe.u32", low, at, "4", "14")
	w.emit("cvt.u64.u32", d, low)
	w.emit("or.b64", d, d, fmt.Sprint(fixed))
	return d
}

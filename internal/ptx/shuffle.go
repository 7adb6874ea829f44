package ptx

// shuffle decodes a shuffle of a warp: thread t gets the value of thread t XOR n. n is a constant operand. All
// threads of a block must execute it, as [barrier] says, although devices require this only of the threads of a
// warp.
func (d *decoder) shuffle() {
	d.one("sync")
	d.one("bfly")
	word := d.typ("b32")
	d.operands(5)
	for i, want := range []uint64{warpSize - 1, 1<<32 - 1} {
		if o := d.args[3+i]; o.form != integer || o.bits&0xffffffff != want {
			d.fail("operand %d is not that of a whole warp", 4+i)
		}
	}
	n := d.args[2]
	if n.form != integer || n.bits >= warpSize {
		d.fail("the distance of threads is not a constant below %d", warpSize)
	}
	x, r := d.from(1, word), d.to(0, word)
	d.step.kind = barrier
	d.step.warp = func(warp []thread) {
		var held [warpSize]uint64
		for i := range warp {
			held[i] = warp[i].r[x]
		}
		for i := range warp {
			warp[i].r[r] = held[i^int(n.bits)]
		}
	}
}

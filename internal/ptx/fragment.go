package ptx

import "math"

// mma decodes a product of matrices by a warp: d = a·b + c with f32 sums, for the shapes m16n8k16
// of f16 and bf16 and m16n8k8 of tf32. Figures of the manual show which thread holds which element.
func (d *decoder) mma() {
	d.one("sync")
	d.one("aligned")
	shape := d.one("m16n8k16", "m16n8k8")
	d.one("row")
	d.one("col")
	d.one("f32")
	elem := d.one("f16", "bf16", "tf32")
	if d.one("f16", "bf16", "tf32") != elem {
		d.fail("both factors have one type")
	}
	d.one("f32")
	if (elem == "tf32") != (shape == "m16n8k8") {
		d.fail("there is no %s of %s", shape, elem)
	}
	d.operands(4)
	word, single := typ{'b', 32}, typ{'f', 32}
	elements := map[string]typ{"f16": {'f', 16}, "bf16": {'h', 16}, "tf32": single}[elem]
	m := &matrices{elem: elements, a: d.list(1, 4, word), b: d.list(2, 2, word), c: d.list(3, 4, single)}
	for _, o := range d.group(0, 4) {
		slot := d.register(o, single, fits)
		d.step.writes = append(d.step.writes, slot)
		m.d = append(m.d, slot)
	}
	d.step.kind, d.step.warp = barrier, m.multiply
}

// group returns the n parts of operand i, which is a list in braces.
func (d *decoder) group(i, n int) []operand {
	if o := d.args[i]; o.form != vector || len(o.list) != n {
		d.fail("operand %d has not %d registers in braces", i+1, n)
	}
	return d.args[i].list
}

// list returns the slots of the n parts of operand i. The instruction reads the parts, which have type t.
func (d *decoder) list(i, n int, t typ) (slots []int) {
	for _, o := range d.group(i, n) {
		slots = append(slots, d.source(o, t, fits))
	}
	return slots
}

const warpSize = 32

// matrices describes a product d = a·b + c. It holds the slots of the registers, and the element type of a and b.
type matrices struct {
	elem       typ
	a, b, c, d []int
}

func (m *matrices) multiply(warp []thread) {
	var a [16][16]float64 // rows of a
	var b [8][16]float64  // columns of b
	for lane := range warp {
		r, row, column := warp[lane].r, lane>>2, lane&3
		if m.elem.bits == 32 {
			for j, slot := range m.a { // a0 to a3: rows alternate, then columns
				a[row+8*(j&1)][column+4*(j>>1)] = tf32(r[slot])
			}
			for j, slot := range m.b {
				b[row][column+4*j] = tf32(r[slot])
			}
			continue
		}
		for j, slot := range m.a {
			for half := range 2 {
				a[row+8*(j&1)][2*column+8*(j>>1)+half] = toFloat(m.elem, r[slot]>>(16*half)&0xffff)
			}
		}
		for j, slot := range m.b {
			for half := range 2 {
				b[row][2*column+8*j+half] = toFloat(m.elem, r[slot]>>(16*half)&0xffff)
			}
		}
	}
	for lane := range warp {
		r, row, column := warp[lane].r, lane>>2, lane&3
		var sums [4]float64
		for j := range sums {
			sums[j] = float64(f32(r[m.c[j]]))
			for k := range 16 {
				sums[j] += a[row+8*(j>>1)][k] * b[2*column+j&1][k]
			}
		}
		for j, slot := range m.d {
			r[slot] = bits32(float32(sums[j]))
		}
	}
}

// tf32 returns the value of the upper 19 bits of x, an f32. The lower bits count as 0.
func tf32(x uint64) float64 { return float64(math.Float32frombits(uint32(x) &^ 0x1fff)) }

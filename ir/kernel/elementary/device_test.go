package elementary

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// device computes scalar code as a device may: quotients and roots are wrong by as much as ir/kernel
// allows, and fused products are rounded once or twice. Zeros may take the place of subnormal results in f32.
type device struct {
	name    string
	fused   bool
	wrong   bool
	flushes bool
}

var devices = []device{
	{"exact", true, false, false},
	{"unfused", false, false, false},
	{"inexact", true, true, false},
	{"inexact unfused", false, true, false},
}

// flushing is the least precise device.
var flushing = device{"inexact unfused flushing", false, true, true}

// program is a function on the bits of values, which are kept in slots.
type program struct {
	device
	slots  map[*kernel.Value]int
	values []uint64
	run    []func()
	args   []int
	result int
}

// compile builds a function of arguments of a type for a device.
func (m device) compile(t testing.TB, args int, d ir.DType, build func(b *kernel.Builder, x []*kernel.Value) *kernel.Value) *program {
	t.Helper()
	p := &program{device: m, slots: map[*kernel.Value]int{}}
	var x []*kernel.Value
	var y *kernel.Value
	k, err := kernel.Build("f", []int{1}, func(b *kernel.Builder) {
		for range args {
			x = append(x, b.Scalar("x", d))
		}
		y = build(b, x)
		b.Store(b.Pointer("y", d), b.Int(0), y) // what nothing reads is not built
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range x {
		p.args = append(p.args, p.slot(v))
	}
	p.run = p.block(k.Body)
	p.result = p.slot(y)
	return p
}

// call returns the function's value.
func (p *program) call(x ...uint64) uint64 {
	for i, bits := range x {
		p.values[p.args[i]] = bits
	}
	for _, f := range p.run {
		f()
	}
	return p.values[p.result]
}

func (p *program) slot(v *kernel.Value) int {
	i, ok := p.slots[v]
	if !ok {
		i = len(p.values)
		p.slots[v] = i
		p.values = append(p.values, 0)
	}
	return i
}

func (p *program) block(b *kernel.Block) (list []func()) {
	for _, in := range b.Instrs {
		switch in.Op {
		case kernel.Const:
			p.values[p.slot(in.Results[0])] = in.Bits
			continue
		case kernel.Store:
			continue // call returns the value
		}
		list = append(list, p.instr(in))
	}
	return list
}

// move returns a function that copies values all at once.
func (p *program) move(to, from []*kernel.Value) func() {
	var src, dst []int
	for i, v := range from {
		src, dst = append(src, p.slot(v)), append(dst, p.slot(to[i]))
	}
	buffer := make([]uint64, len(src))
	return func() {
		for i, s := range src {
			buffer[i] = p.values[s]
		}
		for i, d := range dst {
			p.values[d] = buffer[i]
		}
	}
}

func all(list []func()) func() {
	return func() {
		for _, f := range list {
			f()
		}
	}
}

func (p *program) instr(in *kernel.Instr) func() {
	switch in.Op {
	case kernel.If:
		cond := p.slot(in.Args[0])
		var arms [2]func()
		for i, b := range in.Blocks {
			arms[i] = all(append(p.block(b), p.move(in.Results, b.Yields)))
		}
		return func() { arms[1-p.values[cond]&1]() }
	case kernel.While:
		test, body := in.Blocks[0], in.Blocks[1]
		enter := p.move(test.Params, in.Args)
		again := all(p.block(test))
		cond := p.slot(test.Yields[0])
		begin := p.move(body.Params, test.Params)
		step := all(append(p.block(body), p.move(test.Params, body.Yields)))
		leave := p.move(in.Results, test.Params)
		return func() {
			enter()
			for again(); p.values[cond] != 0; again() {
				begin()
				step()
			}
			leave()
		}
	}
	var a [3]int
	for i, v := range in.Args {
		a[i] = p.slot(v)
	}
	r := p.slot(in.Results[0])
	f := p.operation(in.Op, in.Args[0].Type.DType, in.Results[0].Type.DType)
	return func() { p.values[r] = f(p.values[a[0]], p.values[a[1]], p.values[a[2]]) }
}

// operation is a function of the bits of operands.
type operation func(x, y, z uint64) uint64

func (p *program) operation(o kernel.Op, d, to ir.DType) operation {
	switch {
	case o == kernel.Select:
		return func(x, y, z uint64) uint64 {
			if x != 0 {
				return y
			}
			return z
		}
	case o == kernel.Bitcast:
		return func(x, _, _ uint64) uint64 { return x }
	case o == kernel.Convert:
		return conversion(d, to)
	}
	switch d {
	case ir.Bool:
		return onInts[uint32](o, 1)
	case ir.I32:
		return onInts[int32](o, math.MaxUint32)
	case ir.U32:
		return onInts[uint32](o, math.MaxUint32)
	case ir.I64:
		return onInts[int64](o, math.MaxUint64)
	case ir.U64:
		return onInts[uint64](o, math.MaxUint64)
	case ir.F32:
		bits := bitsOfF32
		if p.flushes {
			bits = flushed
		}
		return onFloats(p.device, o, f32Of, bits, 24)
	}
	return onFloats(p.device, o, math.Float64frombits, math.Float64bits, 53)
}

func truth(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

// onInts returns an operation on integers that have the bits of mask.
func onInts[T int32 | uint32 | int64 | uint64](o kernel.Op, mask uint64) operation {
	unary := func(f func(x T) T) operation {
		return func(x, _, _ uint64) uint64 { return uint64(f(T(x))) & mask }
	}
	binary := func(f func(x, y T) T) operation {
		return func(x, y, _ uint64) uint64 { return uint64(f(T(x), T(y))) & mask }
	}
	compare := func(f func(x, y T) bool) operation {
		return func(x, y, _ uint64) uint64 { return truth(f(T(x), T(y))) }
	}
	switch o {
	case kernel.Add:
		return binary(func(x, y T) T { return x + y })
	case kernel.Sub:
		return binary(func(x, y T) T { return x - y })
	case kernel.Mul:
		return binary(func(x, y T) T { return x * y })
	case kernel.Div:
		return binary(func(x, y T) T { return x / y })
	case kernel.Rem:
		return binary(func(x, y T) T { return x % y })
	case kernel.Min:
		return binary(func(x, y T) T { return min(x, y) })
	case kernel.Max:
		return binary(func(x, y T) T { return max(x, y) })
	case kernel.And:
		return binary(func(x, y T) T { return x & y })
	case kernel.Or:
		return binary(func(x, y T) T { return x | y })
	case kernel.Xor:
		return binary(func(x, y T) T { return x ^ y })
	case kernel.Shl:
		return binary(func(x, y T) T { return x << uint64(y) })
	case kernel.Shr:
		return binary(func(x, y T) T { return x >> uint64(y) })
	case kernel.Neg:
		return unary(func(x T) T { return -x })
	case kernel.Abs:
		return unary(func(x T) T { return max(x, -x) })
	case kernel.Not:
		return unary(func(x T) T { return ^x })
	case kernel.Eq:
		return compare(func(x, y T) bool { return x == y })
	case kernel.Ne:
		return compare(func(x, y T) bool { return x != y })
	case kernel.Lt:
		return compare(func(x, y T) bool { return x < y })
	case kernel.Le:
		return compare(func(x, y T) bool { return x <= y })
	case kernel.Gt:
		return compare(func(x, y T) bool { return x > y })
	case kernel.Ge:
		return compare(func(x, y T) bool { return x >= y })
	}
	panic("no integer operation " + o.String())
}

func f32Of(x uint64) float64     { return float64(math.Float32frombits(uint32(x))) }
func bitsOfF32(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }

// flushed returns the bits of x, or of zero if x is subnormal.
func flushed(x float64) uint64 {
	if math.Abs(x) < 0x1p-126 {
		x = math.Copysign(0, x)
	}
	return bitsOfF32(x)
}

// onFloats returns an operation on floats with so many bits of significand. f32 is computed in float64
// and rounded, which gives the same as rounding once.
func onFloats(m device, o kernel.Op, of func(uint64) float64, bits func(float64) uint64, significand int) operation {
	unary := func(f func(x float64) float64) operation {
		return func(x, _, _ uint64) uint64 { return bits(f(of(x))) }
	}
	binary := func(f func(x, y float64) float64) operation {
		return func(x, y, _ uint64) uint64 { return bits(f(of(x), of(y))) }
	}
	compare := func(f func(x, y float64) bool) operation {
		return func(x, y, _ uint64) uint64 { return truth(f(of(x), of(y))) }
	}
	switch o {
	case kernel.Add:
		return binary(func(x, y float64) float64 { return x + y })
	case kernel.Sub:
		return binary(func(x, y float64) float64 { return x - y })
	case kernel.Mul:
		return binary(func(x, y float64) float64 { return x * y })
	case kernel.Div:
		return func(x, y, _ uint64) uint64 { return m.blur(bits(of(x)/of(y)), x^y, of, significand) }
	case kernel.Sqrt:
		return func(x, _, _ uint64) uint64 { return m.blur(bits(math.Sqrt(of(x))), x, of, significand) }
	case kernel.Min:
		return binary(func(x, y float64) float64 {
			if x < y {
				return x
			}
			return y
		})
	case kernel.Max:
		return binary(func(x, y float64) float64 {
			if x > y {
				return x
			}
			return y
		})
	case kernel.Neg:
		return unary(func(x float64) float64 { return -x })
	case kernel.Abs:
		return unary(math.Abs)
	case kernel.Floor:
		return unary(math.Floor)
	case kernel.Ceil:
		return unary(math.Ceil)
	case kernel.Trunc:
		return unary(math.Trunc)
	case kernel.Round:
		return unary(math.RoundToEven)
	case kernel.Fma:
		if m.fused && significand == 24 {
			// A product of f32 is exact in float64. The sum is rounded to odd, so that rounding it again does not
			// matter.
			return func(x, y, z uint64) uint64 { return uint64(math.Float32bits(fused(of(x)*of(y), of(z)))) }
		}
		if m.fused {
			return func(x, y, z uint64) uint64 { return bits(math.FMA(of(x), of(y), of(z))) }
		}
		return func(x, y, z uint64) uint64 { return bits(of(bits(of(x)*of(y))) + of(z)) }
	case kernel.Eq:
		return compare(func(x, y float64) bool { return x == y })
	case kernel.Ne:
		return compare(func(x, y float64) bool { return x != y })
	case kernel.Lt:
		return compare(func(x, y float64) bool { return x < y })
	case kernel.Le:
		return compare(func(x, y float64) bool { return x <= y })
	case kernel.Gt:
		return compare(func(x, y float64) bool { return x > y })
	case kernel.Ge:
		return compare(func(x, y float64) bool { return x >= y })
	}
	panic("no float operation " + o.String())
}

// fused returns x + y rounded once to f32.
func fused(x, y float64) float32 {
	s := x + y
	b := s - x
	lost := (x - (s - b)) + (y - b)
	if lost != 0 && lost == lost && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Inf(int(math.Copysign(1, lost))))
	}
	return float32(s)
}

// blur changes a result by up to two units in the last place if the device is inexact.
func (m device) blur(y, seed uint64, of func(uint64) float64, significand int) uint64 {
	v := math.Abs(of(y))
	least := math.Ldexp(1, -126)
	if significand == 53 {
		least = math.Ldexp(1, -1022)
	}
	if !m.wrong || !(v >= least && v <= 1/least) {
		return y
	}
	return y + (seed*0x9e3779b97f4a7c15)>>40%5 - 2
}

// conversion returns the conversion from one arithmetic type to another.
func conversion(from, to ir.DType) operation {
	var number func(x uint64) float64
	switch from {
	case ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64:
		return fromInt(from, to)
	case ir.F32:
		number = f32Of
	default:
		number = math.Float64frombits
	}
	return func(x, _, _ uint64) uint64 {
		v := number(x)
		switch to {
		case ir.F32:
			return bitsOfF32(v)
		case ir.F64:
			return math.Float64bits(v)
		case ir.I32:
			return uint64(uint32(int32(max(math.MinInt32, min(v, math.MaxInt32)))))
		case ir.I64:
			if v >= 1<<63 {
				return math.MaxInt64
			}
			return uint64(int64(v))
		}
		panic("no conversion to " + to.String())
	}
}

// fromInt returns the conversion of integers, and of bools, which are small integers.
func fromInt(from, to ir.DType) operation {
	return func(x, _, _ uint64) uint64 {
		switch {
		case from == ir.I32:
			x = uint64(int32(x))
		case to == ir.F32 && from == ir.U64:
			return uint64(math.Float32bits(float32(x)))
		case to == ir.F64 && from == ir.U64:
			return math.Float64bits(float64(x))
		}
		switch to {
		case ir.F32:
			return uint64(math.Float32bits(float32(int64(x))))
		case ir.F64:
			return math.Float64bits(float64(int64(x)))
		case ir.I32, ir.U32:
			return uint64(uint32(x))
		}
		return x
	}
}

package targettest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

// Draw draws random operators and operands.
type Draw struct {
	*rapid.T
	// symbolic says whether extents may be symbols. extents holds the numbers of the symbols that
	// attributes use.
	symbolic bool
	extents  map[string]int
	// smooths counts the calls of [Draw.smooth].
	smooths int64
}

// Int draws a number in [lo, hi]. label names the number in the log of a failure.
func (d *Draw) Int(lo, hi int, label string) int { return rapid.IntRange(lo, hi).Draw(d.T, label) }

// Flag draws a truth value. label names it in the log of a failure.
func (d *Draw) Flag(label string) bool { return rapid.Bool().Draw(d.T, label) }

// Pick draws one of the given values.
func Pick[T any](d *Draw, values ...T) T { return rapid.SampledFrom(values).Draw(d.T, "choice") }

// Ints draws n numbers in [lo, hi]. label names them in the log of a failure.
func (d *Draw) Ints(n, lo, hi int, label string) []int {
	return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(d.T, label)
}

// Extent draws an extent, often one near the size of a vector or a block.
func (d *Draw) Extent() int { return Pick(d, 2, 3, 1, 5, 4, 0, 7, 17) }

// Shape draws a shape with a rank in [lo, hi].
func (d *Draw) Shape(lo, hi int) []int {
	shape := make([]int, d.Int(lo, hi, "rank"))
	for i := range shape {
		shape[i] = d.Extent()
	}
	return shape
}

// Full draws a shape with a rank in [lo, hi], without extents of 0.
func (d *Draw) Full(lo, hi int) []int {
	shape := d.Shape(lo, hi)
	for i, n := range shape {
		shape[i] = max(n, 1)
	}
	return shape
}

// broadcast draws n shapes that broadcast to one.
func (d *Draw) broadcast(n int) [][]int {
	whole := d.Shape(0, 4)
	shapes := make([][]int, n)
	for i := range shapes {
		shapes[i] = d.part(whole)
	}
	return shapes
}

// part draws a shape that broadcasts to another.
func (d *Draw) part(whole []int) []int {
	shape := slices.Clone(whole)
	if d.Flag("whole") {
		return shape
	}
	for k := range shape {
		if d.Int(0, 2, "one") == 0 {
			shape[k] = 1
		}
	}
	return shape[d.Int(0, len(shape), "lead"):]
}

// Dim returns an extent for an attribute: n, or a symbol with the value n.
func (d *Draw) Dim(n int) dim.Dim {
	if !d.symbolic || !d.Flag("symbol") {
		return dim.Const(n)
	}
	name := fmt.Sprint("D", n)
	d.extents[name] = n
	return dim.Sym(name)
}

// Dims returns extents for an attribute. Each is a number or a symbol.
func (d *Draw) Dims(n ...int) []dim.Dim {
	dims := make([]dim.Dim, len(n))
	for i, v := range n {
		dims[i] = d.Dim(v)
	}
	return dims
}

// typeOf draws the type of a parameter for the argument x. Its extents may be symbols.
func (d *Draw) typeOf(x *ir.Tensor) ir.Type {
	if x.Kind != ir.TensorKind {
		return x.Type()
	}
	seen := maps.Clone(d.extents)
	t := ir.TensorOf(x.DType, d.Dims(x.Shape...)...)
	d.extents = seen
	return t
}

// DType draws one of the given element types.
func (d *Draw) DType(types []ir.DType) ir.DType { return rapid.SampledFrom(types).Draw(d.T, "dtype") }

func typesWhere(keep func(ir.DType) bool) []ir.DType {
	return slices.DeleteFunc(ir.DTypes(), func(d ir.DType) bool { return !keep(d) })
}

var (
	anyTypes      = ir.DTypes()
	floatTypes    = typesWhere(ir.DType.IsFloat)
	usualFloats   = []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16} // precise enough for sums
	intTypes      = typesWhere(ir.DType.IsInt)
	signedTypes   = typesWhere(func(d ir.DType) bool { return d.IsFloat() || d.Class() == ir.Signed })
	unsignedTypes = typesWhere(func(d ir.DType) bool { return d.Class() == ir.Unsigned })
	numberTypes   = slices.Concat(floatTypes, intTypes)
	usualNumbers  = slices.Concat(usualFloats, intTypes)
	boolTypes     = []ir.DType{ir.Bool}
	textTypes     = []ir.DType{ir.String}
	indexTypes    = []ir.DType{ir.I64, ir.I32}
)

var words = []string{"", "a", "B", "ab", "ſ", " x y ", "7", "-2.5", "1e3", "né"}

// Tensor draws a tensor of strings, bools or small numbers. Floats are multiples of 1/8, and mostly
// not integers. Floats of f8e8m0 are powers of two.
func (d *Draw) Tensor(t ir.DType, shape ...int) *ir.Tensor {
	return d.Scaled(1, t, shape...)
}

// Greatest is an upper bound, inclusive, of the magnitude of the floats of [Draw.Tensor], except
// f8e8m0.
const Greatest = 6.125

// Scaled draws a tensor as [Draw.Tensor] does, and multiplies its floats by a factor. Floats of
// f8e8m0 are not multiplied.
func (d *Draw) Scaled(factor float64, t ir.DType, shape ...int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	seed := rapid.Uint32().Draw(d.T, "seed")
	for i := range x.Len() {
		h := int(rt.Hash(seed, uint32(i)) >> 8)
		switch {
		case t == ir.String:
			x.SetText(i, words[h%len(words)])
		case t == ir.Bool:
			x.SetBool(i, h&1 != 0)
		case t == ir.F8E8M0:
			x.SetFloat(i, math.Ldexp(1, h%9-4))
		case t.IsFloat():
			x.SetFloat(i, factor*(float64(h%97)/8-6))
		default:
			x.SetInt(i, int64(h%251)-100)
		}
	}
	return x
}

// odd replaces up to two elements of x by NaN, an infinity, −0, 0, or a very small or very large
// number. It changes only floats of at least 16 bits.
func (d *Draw) odd(x *ir.Tensor) *ir.Tensor {
	if x.DType.IsFloat() && x.DType.Bits() >= 16 && x.Len() > 0 {
		for range d.Int(0, 2, "odd") {
			v := Pick(d, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e-30, 3e4, -1e9)
			x.SetFloat(d.Int(0, x.Len()-1, "place"), v)
		}
	}
	return x
}

// Any draws a tensor. If it has floats of at least 16 bits, up to two elements are special, such as NaN, an infinity
// or −0.
func (d *Draw) Any(t ir.DType, shape ...int) *ir.Tensor { return d.odd(d.Tensor(t, shape...)) }

// index draws indices of an axis. Some count from the end, and a few are out of range, some of them
// far out. If the axis is empty, most indices are 0.
func (d *Draw) index(extent int, shape ...int) *ir.Tensor {
	return d.indexOf(d.DType(indexTypes), extent, shape...)
}

func (d *Draw) indexOf(t ir.DType, extent int, shape ...int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	seed := rapid.Uint32().Draw(d.T, "seed")
	for i := range x.Len() {
		if extent > 0 {
			x.SetInt(i, int64(int(rt.Hash(seed, uint32(i))>>8)%(2*extent)-extent))
		}
	}
	if x.Len() > 0 && d.Int(0, 15, "outside") == 0 {
		far := int64(math.MaxInt64) >> (64 - t.Bits())
		x.SetInt(d.Int(0, x.Len()-1, "place"), Pick(d, int64(extent), int64(-extent-1), far, -far-1, far/2+1))
	}
	return x
}

// Lengths draws a vector of n integers of type t in [lo, hi].
func (d *Draw) Lengths(t ir.DType, n, lo, hi int) *ir.Tensor {
	x := ir.NewTensor(t, n)
	for i, v := range d.Ints(n, lo, hi, "length") {
		x.SetInt(i, int64(v))
	}
	return x
}

// Maybe returns x, or nil in some draws: an absent operand.
func (d *Draw) Maybe(x *ir.Tensor) *ir.Tensor {
	if d.Flag("absent") {
		return nil
	}
	return x
}

// Trimmed returns the operands without the absent operands at the end.
func Trimmed(args ...*ir.Tensor) []*ir.Tensor {
	for len(args) > 0 && args[len(args)-1] == nil {
		args = args[:len(args)-1]
	}
	return args
}

// Product returns the product of numbers, or 1 for an empty list.
func Product(n ...int) int {
	p := 1
	for _, v := range n {
		p *= v
	}
	return p
}

// held returns x as kernels hold it. Numbers of f8e8m0 are powers of two, so that a zero becomes
// another number.
func held(x *ir.Tensor) *ir.Tensor {
	if x.Kind != ir.TensorKind || x.DType != ir.F8E8M0 {
		return x
	}
	y, err := ir.DecodeTensor(x.DType, x.Shape, x.Bytes())
	if err != nil {
		panic(err)
	}
	return y
}

package exec_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// draw draws what operators are tried with.
type draw struct {
	*rapid.T
	// symbolic is whether extents may be symbols. Each stands for one number:
	// extents has those of the attributes.
	symbolic bool
	extents  map[string]int
	// smooths counts what [draw.smooth] drew.
	smooths int64
}

func (d *draw) int(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.T, what) }
func (d *draw) flag(what string) bool           { return rapid.Bool().Draw(d.T, what) }

func pick[T any](d *draw, of ...T) T { return rapid.SampledFrom(of).Draw(d.T, "choice") }

// ints draws n numbers.
func (d *draw) ints(n, lo, hi int, what string) []int {
	return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(d.T, what)
}

// extent draws an extent, among them those next to what vectors and blocks hold.
func (d *draw) extent() int { return pick(d, 2, 3, 1, 5, 4, 0, 7, 17) }

// shape draws a shape of a rank from lo to hi.
func (d *draw) shape(lo, hi int) []int {
	shape := make([]int, d.int(lo, hi, "rank"))
	for i := range shape {
		shape[i] = d.extent()
	}
	return shape
}

// full is shape without extents of 0.
func (d *draw) full(lo, hi int) []int {
	shape := d.shape(lo, hi)
	for i, n := range shape {
		shape[i] = max(n, 1)
	}
	return shape
}

// broadcast draws n shapes that broadcast to one.
func (d *draw) broadcast(n int) [][]int {
	whole := d.shape(0, 4)
	shapes := make([][]int, n)
	for i := range shapes {
		shapes[i] = d.part(whole)
	}
	return shapes
}

// part draws a shape that broadcasts to another.
func (d *draw) part(whole []int) []int {
	shape := slices.Clone(whole)
	if d.flag("whole") {
		return shape
	}
	for k := range shape {
		if d.int(0, 2, "one") == 0 {
			shape[k] = 1
		}
	}
	return shape[d.int(0, len(shape), "lead"):]
}

// dim returns an extent of an attribute, which may be a symbol.
func (d *draw) dim(n int) ir.Dim {
	if !d.symbolic || !d.flag("symbol") {
		return ir.Const(n)
	}
	name := fmt.Sprint("D", n)
	d.extents[name] = n
	return ir.Sym(name)
}

func (d *draw) dims(n ...int) []ir.Dim {
	dims := make([]ir.Dim, len(n))
	for i, v := range n {
		dims[i] = d.dim(v)
	}
	return dims
}

// typeOf returns the type that a parameter has for an argument.
func (d *draw) typeOf(x *ir.Tensor) ir.Type {
	if x.Kind != ir.TensorKind {
		return x.Type()
	}
	seen := maps.Clone(d.extents)
	t := ir.TensorOf(x.DType, d.dims(x.Shape...)...)
	d.extents = seen
	return t
}

// dtype draws one of these element types.
func (d *draw) dtype(of []ir.DType) ir.DType { return rapid.SampledFrom(of).Draw(d.T, "dtype") }

// typesWhere returns the element types that is holds for.
func typesWhere(is func(ir.DType) bool) []ir.DType {
	return slices.DeleteFunc(ir.DTypes(), func(d ir.DType) bool { return !is(d) })
}

// The element types, by what operators ask for.
var (
	anyTypes      = ir.DTypes()
	floatTypes    = typesWhere(ir.DType.IsFloat)
	usualFloats   = []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16} // that sums are not too coarse for
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

// tensor draws a tensor of small numbers, multiples of 1/8 that are not integers
// more often than not; of words; or of truth values.
func (d *draw) tensor(t ir.DType, shape ...int) *ir.Tensor {
	return d.scaled(1, t, shape...)
}

// scaled is tensor with floats times a factor.
func (d *draw) scaled(by float64, t ir.DType, shape ...int) *ir.Tensor {
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
			x.SetFloat(i, by*(float64(h%97)/8-6))
		default:
			x.SetInt(i, int64(h%251)-100)
		}
	}
	return x
}

// odd puts a zero below zero, what is no number, or a very large or very small one
// somewhere into floats.
func (d *draw) odd(x *ir.Tensor) *ir.Tensor {
	if x.DType.IsFloat() && x.DType.Bits() >= 16 && x.Len() > 0 {
		for range d.int(0, 2, "odd") {
			v := pick(d, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e-30, 3e4, -1e9)
			x.SetFloat(d.int(0, x.Len()-1, "place"), v)
		}
	}
	return x
}

// any is odd of a tensor.
func (d *draw) any(t ir.DType, shape ...int) *ir.Tensor { return d.odd(d.tensor(t, shape...)) }

// index draws indices of an axis, from the front and from the end, seldom one that
// is outside.
func (d *draw) index(extent int, shape ...int) *ir.Tensor {
	return d.indexOf(d.dtype(indexTypes), extent, shape...)
}

func (d *draw) indexOf(t ir.DType, extent int, shape ...int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	seed := rapid.Uint32().Draw(d.T, "seed")
	for i := range x.Len() {
		if extent > 0 {
			x.SetInt(i, int64(int(rt.Hash(seed, uint32(i))>>8)%(2*extent)-extent))
		}
	}
	if x.Len() > 0 && d.int(0, 15, "outside") == 0 {
		x.SetInt(d.int(0, x.Len()-1, "place"), int64(pick(d, extent, -extent-1)))
	}
	return x
}

// lengths draws n numbers from lo to hi.
func (d *draw) lengths(t ir.DType, n, lo, hi int) *ir.Tensor {
	x := ir.NewTensor(t, n)
	for i, v := range d.ints(n, lo, hi, "length") {
		x.SetInt(i, int64(v))
	}
	return x
}

// maybe returns x or, now and then, nothing.
func (d *draw) maybe(x *ir.Tensor) *ir.Tensor {
	if d.flag("absent") {
		return nil
	}
	return x
}

// trimmed returns operands without the last ones that are absent.
func trimmed(args ...*ir.Tensor) []*ir.Tensor {
	for len(args) > 0 && args[len(args)-1] == nil {
		args = args[:len(args)-1]
	}
	return args
}

func product(n ...int) int {
	p := 1
	for _, v := range n {
		p *= v
	}
	return p
}

// held returns a tensor as kernels hold it: there is no zero among powers of two.
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

// toGo returns a value as package exec takes it.
func toGo(x *ir.Tensor) any {
	if x.Kind == ir.TensorKind {
		return value.Slice(x)
	}
	v := reflect.New(exec.HeldType(x.Type())).Elem()
	item := func(to reflect.Value, item *ir.Tensor) {
		if item.Kind != ir.TensorKind {
			to.Set(reflect.ValueOf(toGo(item)))
			return
		}
		to.FieldByName("Data").Set(reflect.ValueOf(value.Slice(item)))
		to.FieldByName("Shape").Set(reflect.ValueOf(item.Shape))
	}
	switch x.Kind {
	case ir.MapKind:
		v.Set(reflect.MakeMap(v.Type()))
		keys := reflect.ValueOf(value.Slice(x.Keys))
		for i, item := range x.Items {
			v.SetMapIndex(keys.Index(i), reflect.ValueOf(value.Slice(item)).Index(0))
		}
	case ir.OptionalKind:
		if len(x.Items) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			item(v.Elem(), x.Items[0])
		}
	default:
		v.Set(reflect.MakeSlice(v.Type(), len(x.Items), len(x.Items)))
		for i, element := range x.Items {
			item(v.Index(i), element)
		}
	}
	return v.Interface()
}

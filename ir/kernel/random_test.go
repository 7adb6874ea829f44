package kernel_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/narrow"
	"pgregory.net/rapid"
)

// term is a random computation on the values before it, which are counted from 0. A thread adds its
// results to these values.
type term struct {
	op       kernel.Op
	d        ir.DType // of the result, or what the operation computes on
	args     []int
	bits     uint64
	carried  []ir.DType
	bodies   [2][]term
	yields   [2][]int
	exchange bool // shift the value by a thread through shared memory
}

// known is a value of a thread.
type known struct {
	d    ir.DType
	bits uint64
}

// drawer draws terms. types are the types of the values so far.
type drawer struct {
	*rapid.T
	types []ir.DType
	depth int
}

// pick draws a value of a type, or -1 if there is none.
func (r *drawer) pick(d ir.DType) int {
	var fit []int
	for i, e := range r.types {
		if e == d {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return -1
	}
	return rapid.SampledFrom(fit).Draw(r.T, "value")
}

// picks draws values of types, or nil if one has none.
func (r *drawer) picks(types ...ir.DType) []int {
	var out []int
	for _, d := range types {
		i := r.pick(d)
		if i < 0 {
			return nil
		}
		out = append(out, i)
	}
	return out
}

// term draws a term, and adds the types of its results.
func (r *drawer) term() (t term, ok bool) {
	t.d = rapid.SampledFrom(arithmetic).Draw(r.T, "type")
	result := t.d
	switch kind := rapid.IntRange(0, 11).Draw(r.T, "kind"); {
	case kind == 0:
		t.op, t.bits = kernel.Const, anyBits(t.d).Draw(r.T, "bits")
	case kind == 1:
		t.op = rapid.SampledFrom(unaries(t.d)).Draw(r.T, "op")
		t.args = r.picks(t.d)
	case kind == 2:
		t.op = kernel.Select
		t.args = r.picks(ir.Bool, t.d, t.d)
	case kind == 3:
		t.op = kernel.Convert
		t.args = r.picks(rapid.SampledFrom(arithmetic).Draw(r.T, "from"))
	case kind == 4 && t.d.IsFloat():
		t.op = kernel.Fma
		t.args = r.picks(t.d, t.d, t.d)
	case kind == 5:
		t.op, t.d, result = kernel.Load, ir.F32, ir.F32
		t.args = r.picks(ir.I32)
	case kind == 9 && t.d.Bits() == 64:
		t.op, result = kernel.Split, ir.U32
		if t.args = r.picks(t.d); t.args != nil {
			r.types = append(r.types, result)
		}
	case kind == 6 && r.depth == 0:
		t.exchange = true
		t.args = r.picks(t.d)
	case kind >= 7 && kind <= 8 && r.depth < 3:
		return r.control()
	default:
		t.op = rapid.SampledFrom(binaries(t.d)).Draw(r.T, "op")
		t.args = r.picks(t.d, t.d)
		result = resultOf(t.op, t.d)
	}
	if t.args == nil && t.op != kernel.Const {
		return t, false
	}
	r.types = append(r.types, result)
	return t, true
}

// control draws a loop or a branch.
func (r *drawer) control() (t term, ok bool) {
	t.op = rapid.SampledFrom([]kernel.Op{kernel.For, kernel.If, kernel.While}).Draw(r.T, "control")
	t.carried = rapid.SliceOfN(rapid.SampledFrom(arithmetic), 0, 3).Draw(r.T, "carried")
	decides := map[kernel.Op]ir.DType{kernel.For: ir.I32, kernel.If: ir.Bool, kernel.While: ir.I32}[t.op]
	if t.args = r.picks(append([]ir.DType{decides}, t.carried...)...); t.args == nil {
		return t, false
	}
	outer := len(r.types)
	blocks := 1
	if t.op == kernel.If {
		blocks = 2
	}
	for i := range blocks {
		if t.op != kernel.If {
			r.types = append(append(r.types, ir.I32), t.carried...)
		}
		r.depth++
		t.bodies[i] = r.terms(4)
		r.depth--
		t.yields[i] = r.picks(t.carried...)
		r.types = r.types[:outer]
	}
	r.types = append(r.types, t.carried...)
	return t, true
}

func (r *drawer) terms(most int) (list []term) {
	for range rapid.IntRange(1, most).Draw(r.T, "terms") {
		if t, ok := r.term(); ok {
			list = append(list, t)
		}
	}
	return list
}

const randomThreads = 8

// safe makes an operand one for which an operation has a value.
func safe(o kernel.Op, d ir.DType) (fix kernel.Op, with int64, ok bool) {
	switch {
	case d.IsInt() && (o == kernel.Div || o == kernel.Rem):
		return kernel.Or, 1, true
	case o == kernel.Shl || o == kernel.Shr:
		return kernel.And, int64(d.Bits() - 1), true
	}
	return 0, 0, false
}

// emit builds terms on values, and returns these and their results.
func emit(b *kernel.Builder, x *kernel.Value, env []*kernel.Value, list []term) []*kernel.Value {
	// inner returns the yields of a body for values that only it has.
	inner := func(t term, i int, own ...*kernel.Value) []*kernel.Value {
		all := emit(b, x, append(slices.Clone(env), own...), t.bodies[i])
		var out []*kernel.Value
		for _, y := range t.yields[i] {
			out = append(out, all[y])
		}
		return out
	}
	for _, t := range list {
		var v []*kernel.Value
		for _, a := range t.args {
			v = append(v, env[a])
		}
		switch {
		case t.exchange:
			s := b.Shared("exchange", t.d, randomThreads)
			b.Store(s, b.Thread(0), v[0])
			b.Barrier()
			env = append(env, b.Load(s, b.Rem(b.Add(b.Thread(0), b.Int(1)), b.Int(randomThreads))))
		case t.op == kernel.Const && t.d.IsFloat():
			whole := map[ir.DType]ir.DType{ir.F32: ir.U32, ir.F64: ir.U64}[t.d]
			env = append(env, b.Bitcast(t.d, b.Whole(whole, int64(t.bits))))
		case t.op == kernel.Const:
			env = append(env, b.Whole(t.d, int64(t.bits)))
		case t.op == kernel.Select:
			env = append(env, b.Select(v[0], v[1], v[2]))
		case t.op == kernel.Convert:
			env = append(env, b.Convert(t.d, v[0]))
		case t.op == kernel.Split:
			low, high := b.Split(v[0])
			env = append(env, low, high)
		case t.op == kernel.Fma:
			env = append(env, b.Fma(v[0], v[1], v[2]))
		case t.op == kernel.Load:
			env = append(env, b.Load(x, b.And(v[0], b.Int(randomThreads-1))))
		case t.op == kernel.If:
			env = append(env, b.If(v[0], func() []*kernel.Value { return inner(t, 0) }, func() []*kernel.Value { return inner(t, 1) })...)
		case t.op == kernel.For:
			env = append(env, b.Times(b.And(v[0], b.Int(3)), v[1:], func(i *kernel.Value, c []*kernel.Value) []*kernel.Value {
				return inner(t, 0, append([]*kernel.Value{i}, c...)...)
			})...)
		case t.op == kernel.While:
			v[0] = b.And(v[0], b.Int(3))
			env = append(env, b.While(v, func(c []*kernel.Value) *kernel.Value { return b.Gt(c[0], b.Int(0)) },
				func(c []*kernel.Value) []*kernel.Value {
					return append([]*kernel.Value{b.Sub(c[0], b.Int(1))}, inner(t, 0, c...)...)
				})[1:]...)
		case len(v) == 1:
			env = append(env, b.Unary(t.op, v[0]))
		default:
			if fix, with, ok := safe(t.op, t.d); ok {
				v[1] = b.Binary(fix, v[1], b.Whole(t.d, with))
			}
			env = append(env, b.Binary(t.op, v[0], v[1]))
		}
	}
	return env
}

// eval computes a term of a thread in plain Go, and returns its results.
func eval(x []uint64, env []known, t term) []known {
	var v []known
	for _, a := range t.args {
		v = append(v, env[a])
	}
	one := func(d ir.DType, bits uint64) []known { return []known{{d, bits}} }
	inner := func(i int, own ...known) []known {
		all := append(slices.Clone(env), own...)
		for _, in := range t.bodies[i] {
			all = append(all, eval(x, all, in)...)
		}
		var out []known
		for _, y := range t.yields[i] {
			out = append(out, all[y])
		}
		return out
	}
	switch t.op {
	case kernel.Const:
		return one(t.d, t.bits)
	case kernel.Select:
		if v[0].bits == 1 {
			return v[1:2]
		}
		return v[2:3]
	case kernel.Convert:
		if v[0].d == t.d {
			return v
		}
		return one(t.d, convert(t.d, v[0].d, v[0].bits))
	case kernel.Split:
		return []known{{ir.U32, v[0].bits & math.MaxUint32}, {ir.U32, v[0].bits >> 32}}
	case kernel.Fma:
		return one(t.d, fma(t.d, v[0].bits, v[1].bits, v[2].bits))
	case kernel.Load:
		return one(ir.F32, x[v[0].bits%randomThreads])
	case kernel.If:
		return inner(1 - int(v[0].bits))
	case kernel.For:
		carried := v[1:]
		for i := range v[0].bits % 4 {
			carried = inner(0, append([]known{{ir.I32, i}}, carried...)...)
		}
		return carried
	case kernel.While:
		carried := v[1:]
		for n := v[0].bits % 4; n > 0; n-- {
			carried = inner(0, append([]known{{ir.I32, n}}, carried...)...)
		}
		return carried
	}
	if len(v) == 1 {
		return one(t.d, unary(t.op, t.d, v[0].bits))
	}
	y := v[1].bits
	if fix, with, ok := safe(t.op, t.d); ok {
		y, _ = operate(fix, t.d, y, uint64(with))
	}
	bits, ok := operate(t.op, t.d, v[0].bits, y)
	if !ok {
		panic("no value")
	}
	return one(resultOf(t.op, t.d), bits)
}

// TestRandomKernels asserts that random kernels compute what plain Go computes, also after they were
// printed and parsed, and without integers of 64 bits.
func TestRandomKernels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scalars := []ir.DType{ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}
		r := &drawer{T: t, types: append([]ir.DType{ir.I32, ir.Bool, ir.F32}, scalars...)}
		list := r.terms(20)
		x := rapid.SliceOfN(anyBits(ir.F32), randomThreads, randomThreads).Draw(t, "x")
		given := []known{}
		for _, d := range scalars {
			given = append(given, known{d, anyBits(d).Draw(t, d.String())})
		}

		// What plain Go computes.
		var threads [randomThreads][]known
		for i := range threads {
			threads[i] = append([]known{{ir.I32, uint64(i)}, {ir.Bool, uint64(i) & 1}, {ir.F32, x[i]}}, given...)
		}
		for _, step := range list {
			var results [randomThreads][]known
			for i := range threads {
				if step.exchange {
					results[i] = []known{threads[(i+1)%randomThreads][step.args[0]]}
				} else {
					results[i] = eval(x, threads[i], step)
				}
			}
			for i := range threads {
				threads[i] = append(threads[i], results[i]...)
			}
		}

		// What the kernel computes.
		k := build(t, "random", []int{randomThreads}, func(b *kernel.Builder) {
			b.Doc("a random kernel")
			in := b.Pointer("x", ir.F32)
			y := b.Pointer("y", ir.U64)
			i := b.Thread(0)
			env := []*kernel.Value{i, b.Eq(b.And(i, b.Int(1)), b.Int(1)), b.Load(in, i)}
			for _, d := range scalars {
				env = append(env, b.Scalar(d.String(), d))
			}
			for j, v := range emit(b, in, env, list) {
				switch d := v.Type.DType; {
				case d == ir.F32:
					v = b.Convert(ir.U64, b.Bitcast(ir.U32, v))
				case d == ir.F64:
					v = b.Bitcast(ir.U64, v)
				case d == ir.I32:
					v = b.Convert(ir.U64, b.Bitcast(ir.U32, v))
				default:
					v = b.Convert(ir.U64, v)
				}
				b.Store(y, b.Add(b.Mul(i, b.Int(len(threads[0]))), b.Int(j)), v)
			}
		})
		text := k.String()
		again := parse(t, text)
		if got := again.String(); got != text {
			t.Fatalf("got\n%s\nwant\n%s", got, text)
		}
		short, err := narrow.Kernel(k)
		if err != nil {
			t.Fatal(err)
		}
		for seed, k := range []*kernel.Kernel{k, again, again, short} {
			y := make([]uint64, randomThreads*len(threads[0]))
			args := []kernel.Arg{kernel.Bytes(ir.F32, pack(ir.F32, x)), kernel.Memory(y)}
			if k == short {
				args[1] = kernel.Bytes(ir.U32, unsafe.Slice((*byte)(unsafe.Pointer(&y[0])), 8*len(y)))
			}
			for _, g := range given {
				args = append(args, argument(g))
			}
			if err := k.Run([3]int{1, 1, 1}, args, kernel.Options{Seed: uint64(seed)}); err != nil {
				t.Fatalf("%v\n%s", err, k)
			}
			for i, values := range threads {
				for j, want := range values {
					if got := y[i*len(values)+j]; !equal(want.d, got, want.bits) {
						t.Fatalf("thread %d, value %d of type %s is %x, want %x\n%s", i, j, want.d, got, want.bits, k)
					}
				}
			}
		}
	})
}

// argument returns a number as an argument.
func argument(v known) kernel.Arg {
	switch v.d {
	case ir.I32:
		return kernel.Number(int32(v.bits))
	case ir.U32:
		return kernel.Number(uint32(v.bits))
	case ir.I64:
		return kernel.Number(int64(v.bits))
	case ir.U64:
		return kernel.Number(v.bits)
	case ir.F32:
		return kernel.Number(math.Float32frombits(uint32(v.bits)))
	}
	return kernel.Number(math.Float64frombits(v.bits))
}

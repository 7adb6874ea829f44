package narrow

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// Kernel returns a kernel that computes what k computes. Only scalar parameters of the new kernel have the type i64
// or u64. Kernel returns k itself if k has no integer of 64 bits.
//
// An array of n elements of 64 bits becomes one of 2n u32 in the same memory: each element becomes its low half,
// followed by its high half. A scalar parameter keeps its type, and the kernel splits it at the start. So both
// kernels take the same arguments. An i64 index of an array is replaced by its low half. So an array must not have
// more than 2³¹−1 elements, or 2³⁰−1 elements of 64 bits.
//
// Kernel returns an error if k has an atomic operation on 64 bits, or a [kernel.Bitcast] of an integer of 64 bits
// to a float.
func Kernel(k *kernel.Kernel) (*kernel.Kernel, error) {
	if !isWide(k) {
		return k, nil
	}
	n := &narrowing{values: map[*kernel.Value][]*kernel.Value{}}
	return kernel.Build(k.Name, k.Block[:], func(b *kernel.Builder) {
		n.Builder = b
		n.kernel(k)
	})
}

func isWide(k *kernel.Kernel) bool {
	for _, v := range k.Params {
		if is64(v.Type.DType) {
			return true
		}
	}
	for _, v := range k.Shared {
		if is64(v.Type.DType) {
			return true
		}
	}
	return hasWide(k.Body)
}

func hasWide(b *kernel.Block) bool {
	for _, in := range b.Instrs {
		for _, r := range in.Results {
			if is64(r.Type.DType) {
				return true
			}
		}
		for _, inner := range in.Blocks {
			if hasWide(inner) {
				return true
			}
		}
	}
	return false
}

func is64(d ir.DType) bool { return d == ir.I64 || d == ir.U64 }

// pair is an integer of 64 bits. Both halves are u32.
type pair struct{ low, high *kernel.Value }

type narrowing struct {
	*kernel.Builder
	// values holds what takes the place of each value of the old kernel: two values for an integer of 64 bits,
	// else one.
	values map[*kernel.Value][]*kernel.Value
}

func (n *narrowing) kernel(k *kernel.Kernel) {
	n.Doc("%s", k.Doc)
	for _, p := range k.Params {
		switch d := p.Type.DType; {
		case p.Type.Space == kernel.Global:
			n.values[p] = []*kernel.Value{n.Pointer(p.Name, elementOf(d))}
			n.values[p][0].Written = p.Written
		case is64(d):
			low, high := n.Split(n.Scalar(p.Name, d))
			n.values[p] = []*kernel.Value{low, high}
		default:
			n.values[p] = []*kernel.Value{n.Scalar(p.Name, d)}
		}
	}
	for _, s := range k.Shared {
		d := s.Type.DType
		n.values[s] = []*kernel.Value{n.Shared(s.Name, elementOf(d), s.Len*width(d))}
		n.values[s][0].Written = s.Written
	}
	n.block(k.Body)
}

func elementOf(d ir.DType) ir.DType {
	if is64(d) {
		return ir.U32
	}
	return d
}

func width(d ir.DType) int {
	if is64(d) {
		return 2
	}
	return 1
}

func (n *narrowing) of(v *kernel.Value) *kernel.Value { return n.values[v][0] }

func (n *narrowing) pair(v *kernel.Value) pair { return pair{n.values[v][0], n.values[v][1]} }

func (n *narrowing) all(values []*kernel.Value) []*kernel.Value {
	var out []*kernel.Value
	for _, v := range values {
		out = append(out, n.values[v]...)
	}
	return out
}

// set records that parts replace values, in order. Two elements of parts replace a value of 64 bits, and one
// replaces any other value.
func (n *narrowing) set(values, parts []*kernel.Value) {
	for _, v := range values {
		w := width(v.Type.DType)
		n.values[v], parts = parts[:w:w], parts[w:]
	}
}

func (n *narrowing) block(b *kernel.Block) []*kernel.Value {
	for _, in := range b.Instrs {
		n.set(in.Results, n.instruction(in))
	}
	return n.all(b.Yields)
}

func (n *narrowing) instruction(in *kernel.Instr) []*kernel.Value {
	switch in.Op {
	case kernel.ThreadIdx:
		return []*kernel.Value{n.Thread(in.Dim)}
	case kernel.BlockIdx:
		return []*kernel.Value{n.BlockIdx(in.Dim)}
	case kernel.Load:
		p := in.Args[0]
		return n.LoadN(n.of(p), n.index(p, in.Args[1]), len(in.Results)*width(p.Type.DType))
	case kernel.Store:
		p := in.Args[0]
		n.Store(n.of(p), n.index(p, in.Args[1]), n.all(in.Args[2:])...)
		return nil
	case kernel.AtomicAdd, kernel.AtomicMin, kernel.AtomicMax, kernel.AtomicAnd, kernel.AtomicOr, kernel.AtomicXchg, kernel.AtomicCAS:
		p := in.Args[0]
		if is64(p.Type.DType) {
			n.Fail("%s on %s has no form without integers of 64 bits", in.Op, p.Type.DType)
		}
		return []*kernel.Value{n.Atomic(in.Op, n.of(p), n.index(p, in.Args[1]), n.all(in.Args[2:])...)}
	case kernel.MatMulAdd:
		a, b, _, _ := kernel.FactorsOfMatrix(in.Args[0].Type.DType)
		x := n.all(in.Args)
		return n.MatMulAdd(x[:a], x[a:a+b], x[a+b:])
	case kernel.Barrier:
		n.Barrier()
		return nil
	case kernel.For, kernel.If, kernel.While:
		return n.control(in)
	}
	return n.compute(in)
}

// index converts i, an index of the array p, to an index of the array that replaces p.
func (n *narrowing) index(p, i *kernel.Value) *kernel.Value {
	at := n.of(i)
	if is64(i.Type.DType) {
		at = n.Bitcast(ir.I32, at)
	}
	return n.Mul(at, n.Int(width(p.Type.DType)))
}

func (n *narrowing) control(in *kernel.Instr) []*kernel.Value {
	body := func(i int) func() []*kernel.Value {
		return func() []*kernel.Value { return n.block(in.Blocks[i]) }
	}
	switch in.Op {
	case kernel.If:
		return n.If(n.of(in.Args[0]), body(0), body(1))
	case kernel.For:
		p := in.Blocks[0].Params
		return n.ForUnrolled(in.Unroll, n.of(in.Args[0]), n.of(in.Args[1]), n.of(in.Args[2]), n.all(in.Args[3:]),
			func(i *kernel.Value, carried []*kernel.Value) []*kernel.Value {
				n.set(p, append([]*kernel.Value{i}, carried...))
				return body(0)()
			})
	}
	return n.While(n.all(in.Args),
		func(carried []*kernel.Value) *kernel.Value {
			n.set(in.Blocks[0].Params, carried)
			return body(0)()[0]
		},
		func(carried []*kernel.Value) []*kernel.Value {
			n.set(in.Blocks[1].Params, carried)
			return body(1)()
		})
}

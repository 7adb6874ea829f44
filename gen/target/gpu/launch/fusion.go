package launch

import (
	"errors"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var errFusion = errors.New("a kernel computes copies, one operator, and elementwise operators on them")

// Ends reports whether the kernels of an operator can end with elementwise operators: the kernels then apply these
// operators to each element of the result before they store the element.
func Ends(o ir.Op) bool { return builders[reflect.TypeOf(o)].ends }

// Loads reports whether a kernel of elementwise operators can compute o as it loads elements: the kernel then reads
// the operand of o, and the result of o is not stored.
func Loads(o ir.Op) bool {
	_, ok := o.(op.StridedCopy)
	return ok
}

// fused returns the launches of an [op.Fusion]. The last node of its block is pointwise. The other nodes are copies,
// except for at most one, the host. [Ends] is true for the host: its launches compute the last node on each element
// before they store the element. Without a host there is one launch, which computes the last node. Copies are
// computed as their elements are loaded, see [Loads].
func fused(n *ir.Node, by Options) ([]kernels.Launch, error) {
	if n.Op.(op.Fusion).Rows {
		return rowsOf(n, by)
	}
	block := n.Blocks[0]
	last, host, err := parts(block)
	if err != nil {
		return nil, err
	}
	var launches []kernels.Launch
	if host == nil {
		launches, err = pointwiseMap(pointwiseName(fusedNames(block, last)), last, load)
	} else {
		own := host.Results[0]
		launches, err = builders[reflect.TypeOf(host.Op)].build(host, func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, v *kernel.Value) {
			v = e.Rounded(own.Type.DType, v)
			e.Write(last.Results[0]).Set(i, elements(e, last, i, at, func(e *kernels.Emitter, a *ir.Value, at func() []*kernel.Value) *kernel.Value {
				if a == own {
					return v
				}
				return load(e, a, at)
			})[0])
		}, by)
	}
	if err != nil {
		return nil, err
	}
	outer := map[*ir.Value]*ir.Value{last.Results[0]: n.Results[0]}
	for i, p := range block.Params {
		outer[p] = n.Args[i]
	}
	place := func(l kernels.Launch) {
		for i := range l.Args {
			a := &l.Args[i]
			if a.Read != nil {
				a.Read = outer[a.Read]
			}
			if a.Write != nil {
				a.Write = outer[a.Write]
			}
			if host != nil && a.Write == n.Results[0] {
				l.Kernel.Name = joined(append([]string{l.Kernel.Name}, fusedNames(block, last)...)...)
			}
		}
	}
	for _, l := range launches {
		place(l)
		if l.Faster != nil {
			place(*l.Faster)
		}
	}
	return launches, nil
}

// parts returns the nodes of a fusion's block that are not copies: its last node, and host, the only other one. host
// is nil if all others are copies. parts returns an error if the last node is not pointwise, if [Ends] is false for
// host, or if more than one other node is not a copy.
func parts(block *ir.Block) (last, host *ir.Node, err error) {
	for i, n := range block.Nodes {
		_, pointwise := n.Op.(op.Pointwise)
		switch {
		case i == len(block.Nodes)-1 && pointwise:
			return n, host, nil
		case Loads(n.Op):
		case host == nil && Ends(n.Op):
			host = n
		default:
			return nil, nil, errFusion
		}
	}
	return nil, nil, errFusion
}

// load returns an element of a, an operand of a pointwise node, if a copy in the same block computes a. Otherwise
// it returns nil. The function `indices` returns the index of the pointwise node's element on each axis.
func load(e *kernels.Emitter, a *ir.Value, indices func() []*kernel.Value) *kernel.Value {
	if a.Def == nil {
		return nil
	}
	o := a.Def.Op.(op.StridedCopy)
	from, index := e.Dim(o.Offset), indices()
	index = index[len(index)-len(o.Shape):]
	for k, stride := range o.Strides {
		if n, ok := o.Shape[k].Int(); !ok || n != 1 {
			from = e.Add(from, e.Mul(index[k], e.Dim(stride)))
		}
	}
	return e.Read(a.Def.Args[0]).Get(from)
}

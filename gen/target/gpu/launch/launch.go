// Package launch maps operators to GPU kernels, and to the arguments of these kernels. It has a builder for each
// operator that GPUs compute, in one file per family, listed in table.go. It does not know how a kernel is written,
// launched or printed.
package launch

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// Options say how kernels compute products.
type Options struct {
	// TF32 rounds the factors of f32 products to 11 significant bits.
	TF32 bool
	// Matrices lets warps multiply matrices of f16, bf16 and tf32.
	Matrices bool
	// Pipelined also makes pipelined kernels of products, see [kernels.Launch.Faster].
	Pipelined bool
}

// Of returns the launches that compute a node, in order. It returns an error if no kernel computes
// the operator, or if the kernel does not support these operands or attributes.
func Of(n *ir.Node, by Options) (launches []kernels.Launch, err error) {
	build := func(n *ir.Node, by Options) ([]kernels.Launch, error) {
		return builders[reflect.TypeOf(n.Op)].build(n, plainly(n), by)
	}
	if _, ok := n.Op.(op.Fusion); ok {
		build = fused
	} else if !Has(n.Op) {
		return nil, fmt.Errorf("no kernel of a GPU computes it for %v", n.ArgTypes())
	}
	if err := ir.Try(func() { launches, err = build(n, by) }); err != nil {
		return nil, err
	}
	return launches, err
}

// Has reports whether there is a builder for an operator. GPUs then compute it, at least for some operands. Has is
// false for [op.Fusion]: [Of] builds a fusion with the builders of the nodes in its block.
func Has(o ir.Op) bool { return builders[reflect.TypeOf(o)].build != nil }

type entry struct {
	op    reflect.Type
	build func(n *ir.Node, put store, by Options) ([]kernels.Launch, error)
	// ends says that the kernels give each element of the only result to put, once.
	ends bool
}

// store stores v, an element of a result. i is its index in row-major order, and `at` holds its index on each axis.
// If `at` is nil, it is computed from i.
type store func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, v *kernel.Value)

// storeSum is a [store] for an element of a matrix product or a convolution. It also gets the element's column or
// channel.
type storeSum func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, channel, sum *kernel.Value)

func plainly(n *ir.Node) store {
	return func(e *kernels.Emitter, i *kernel.Value, _ []*kernel.Value, v *kernel.Value) {
		e.Write(n.Results[0]).Set(i, v)
	}
}

func computes[O ir.Op](build func(o O, n *ir.Node) ([]kernels.Launch, error)) entry {
	return entry{op: reflect.TypeFor[O](), build: func(n *ir.Node, _ store, _ Options) ([]kernels.Launch, error) { return build(n.Op.(O), n) }}
}

// computesBy is computes for kernels of products.
func computesBy[O ir.Op](build func(o O, n *ir.Node, by Options) ([]kernels.Launch, error)) entry {
	return entry{op: reflect.TypeFor[O](), build: func(n *ir.Node, _ store, by Options) ([]kernels.Launch, error) { return build(n.Op.(O), n, by) }}
}

// ends returns the table entry of an operator whose kernels store their result with `put`, an argument of the
// function `build`.
func ends[O ir.Op](build func(o O, n *ir.Node, put store) ([]kernels.Launch, error)) entry {
	return multiplies(func(o O, n *ir.Node, put store, _ Options) ([]kernels.Launch, error) { return build(o, n, put) })
}

// multiplies returns the table entry of an operator that computes products. The kernels that the function `build`
// makes must store their result with `put`.
func multiplies[O ir.Op](build func(o O, n *ir.Node, put store, by Options) ([]kernels.Launch, error)) entry {
	return entry{op: reflect.TypeFor[O](), build: func(n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
		return build(n.Op.(O), n, put, by)
	}, ends: true}
}

// matrix returns the type of the matrices that warps multiply if factors are of type d. It is
// ir.Invalid if threads multiply single elements.
func (o Options) matrix(d ir.DType) ir.DType {
	if o.Matrices && (d == ir.F16 || d == ir.BF16 || d == ir.F32 && o.TF32) {
		return d
	}
	return ir.Invalid
}

// threads returns how many threads a block may have. The number is larger for devices whose warps multiply
// matrices.
func (o Options) threads() int {
	if o.Matrices {
		return kernel.MaxThreads
	}
	return kernels.Threads
}

// factor returns an element of an operand as a product multiplies it: rounded to 11 significant bits
// with TF32, otherwise unchanged.
func (o Options) factor(e *kernels.Emitter, element *kernel.Value) *kernel.Value {
	if o.TF32 && element.Type.DType == ir.F32 {
		return e.RoundTF32(element)
	}
	return element
}

func one(l kernels.Launch, err error) ([]kernels.Launch, error) {
	return []kernels.Launch{l}, err
}

// Reasons why a GPU does not compute a node.
var (
	errText      = errors.New("GPUs have no strings")
	errNarrow    = errors.New("GPUs do not compute with floats of 8 bits")
	errMode      = errors.New("the mode is computed by other operators")
	errArguments = errors.New("a kernel has fewer arguments")
	errTuples    = errors.New("indices of several coordinates are checked on the host")
	// errExtents is returned if the extents do not prove that all indices fit the operand. The host then compares the
	// extents and computes the node, instead of a kernel.
	errExtents = errors.New("the indices may exceed the operand")
)

package gpu

import (
	"fmt"
	"math"
	"strings"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Precision says how a target computes products: of matrices, convolutions and attentions. Sums are
// always f32.
type Precision uint8

// The precisions.
const (
	F32  Precision = iota // operands as they are
	TF32                  // operands of f32 are rounded to 11 significant bits as they are read
	F16                   // operands and results are stored as f16
	BF16                  // operands and results are stored as bf16
)

// Precisions lists the precisions by their names.
var Precisions = []string{F32: "f32", TF32: "tf32", F16: "f16", BF16: "bf16"}

// String returns the name.
func (p Precision) String() string { return Precisions[p] }

// Set sets p to the precision called name. It returns an error if there is no such precision.
func (p *Precision) Set(name string) error {
	for i, n := range Precisions {
		if n == name {
			*p = Precision(i)
			return nil
		}
	}
	return fmt.Errorf("%q: one of %s expected", name, strings.Join(Precisions, ", "))
}

// stored returns the type in which operands of products are stored, or ir.Invalid if they keep their own.
func (p Precision) stored() ir.DType {
	return [...]ir.DType{F16: ir.F16, BF16: ir.BF16}[p]
}

// options returns how kernels compute products.
func (t Target) options() launch.Options {
	return launch.Options{TF32: t.Precision == TF32, Matrices: t.Language.Matrices}
}

// Unit returns [Precision.Unit].
func (t Target) Unit() float64 { return t.Precision.Unit() }

// Unit returns the unit roundoff of the operands: the greatest relative error of rounding a number. It is 0
// for f32.
func (p Precision) Unit() float64 {
	return [...]float64{TF32: 0x1p-11, F16: 0x1p-11, BF16: 0x1p-8}[p]
}

// Rounding returns the difference that is to be expected between the results of f, a function of m, in
// this precision and with products of f32. It is relative to the root mean square of a result, and to
// the element itself where that is larger. It is 0 for f32.
//
// A product of K terms a·b has the error Σ a·b·(ε₁+ε₂), and its result is rounded by ε₃. Rounding
// errors are independent, with a mean of about 0 and a standard deviation of about 0.4 units, so the
// error of the sum has a standard deviation of about √3 · 0.4 units of √Σ(a·b)², which is the size of
// a sum of terms of both signs and less than that of others. It does not grow with K. Products that
// read the results of others add their errors, which are independent too: d products in a chain make
// √d of it. No element in a hundred million is further off than 6 standard deviations: 6 · √3 · 0.4 ·
// √d ≈ 4·√d units.
func (p Precision) Rounding(m *ir.Module, f *ir.Func) float64 {
	return 4 * p.Unit() * math.Sqrt(float64(longestChain(m, f)))
}

// longestChain returns the length of the longest chain of products of f, a function of m, in which
// each product depends on the result of the one before. The body of a loop counts once.
func longestChain(m *ir.Module, f *ir.Func) int {
	c := chains{module: m, funcs: map[string]int{}}
	return c.of(f)
}

// chains finds the lengths of chains of products, see [longestChain].
type chains struct {
	module *ir.Module
	funcs  map[string]int // by the function's name
}

func (c *chains) of(f *ir.Func) int {
	if n, ok := c.funcs[f.Name]; ok {
		return n
	}
	c.funcs[f.Name] = 0
	c.funcs[f.Name] = c.block(&f.Block, map[*ir.Value]int{})
	return c.funcs[f.Name]
}

// block returns the length of the longest chain that ends in a block. before holds, for each value
// that is already computed, the length of the longest chain that ends there. block adds the values of
// the block.
func (c *chains) block(b *ir.Block, before map[*ir.Value]int) int {
	longest := 0
	for _, n := range b.Nodes {
		length := 0
		for _, a := range n.Args {
			length = max(length, before[a])
		}
		if _, ok := n.Op.(op.Product); ok && n.Results[0].Type.DType.IsFloat() {
			length++
		}
		if call, ok := n.Op.(ir.Invoke); ok {
			length += c.of(c.module.Func(call.Func))
		}
		start := length
		for _, inner := range n.Blocks {
			for _, p := range inner.Params {
				before[p] = start
			}
			length = max(length, c.block(inner, before))
		}
		for _, r := range n.Results {
			before[r] = length
		}
		longest = max(longest, length)
	}
	return longest
}

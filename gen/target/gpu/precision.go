package gpu

import (
	"fmt"
	"math"
	"strings"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
)

// Precision says whether, and to what type, a target rounds the f32 factors of matrix products, convolutions and
// attentions before it multiplies them. Sums are f32 in every precision.
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

func (t Target) options() launch.Options {
	return launch.Options{TF32: t.Precision == TF32, Matrices: t.Language.Matrices, Pipelined: t.Language.Pipelined != nil}
}

// Unit returns [Precision.Unit].
func (t Target) Unit() float64 { return t.Precision.Unit() }

// Unit returns the unit roundoff of the operands: the greatest relative error of rounding a number. It is 0
// for f32.
func (p Precision) Unit() float64 {
	return [...]float64{TF32: 0x1p-11, F16: 0x1p-11, BF16: 0x1p-8}[p]
}

// Round returns [Precision.Round].
func (t Target) Round(x float64) float64 { return t.Precision.Round(x) }

// Round returns x, a number of f32, rounded as products in precision p round their factors.
func (p Precision) Round(x float64) float64 {
	switch {
	case p.stored() != ir.Invalid:
		return ir.RoundFloat(p.stored(), x)
	case p == TF32 && x == x:
		const half, kept = 1 << 12, 0xffffe000
		return float64(math.Float32frombits((math.Float32bits(float32(x)) + half) & kept))
	}
	return x
}

// Rounding returns the largest difference that is expected between two results of f: one whose products are
// computed in precision p, and one whose products are computed in f32. f is a function of module m. The difference
// of an element is divided by the root mean square of its tensor, or by the element's magnitude if that is larger.
// Rounding returns 0 for f32.
func (p Precision) Rounding(m *ir.Module, f *ir.Func) float64 {
	// A product of K terms a·b has the error Σ a·b·(ε₁+ε₂), and its result is rounded by ε₃ if another
	// product reads it. Rounding errors are independent, with a mean of about 0 and a standard
	// deviation of about 0.4 units, so the error of the sum has a standard deviation of about √3 · 0.4
	// units of √Σ(a·b)², which is the size of a sum of terms of both signs and less than that of
	// others. It does not grow with K. Products that read the results of others add their errors,
	// which are independent too: d products in a chain make √d of it. No element in a hundred million
	// is further off than 6 standard deviations: 6 · √3 · 0.4 · √d ≈ 4·√d units.
	//
	// A softmax turns the absolute error of a score into a relative error of a weight, so it
	// multiplies relative errors by the size s of the scores. Softmaxes of large scores do not
	// multiply them more: among T normally distributed scores, one weight is nearly 1 and the others
	// nearly 0 if s exceeds √(2·ln T) (Derrida, "Random-energy model", Physical Review B 24, 1981),
	// and weights of 0 and 1 do not change. So a softmax counts the products before it, back to the
	// previous softmax, 2·ln T times. Products before the previous softmax are not counted again:
	// transformers add what an attention computes to a residual, which the next softmax reads with a
	// norm that does not depend on the sizes of scores.
	return 4 * p.Unit() * math.Sqrt(longestChain(m, f))
}

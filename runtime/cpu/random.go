package cpu

import (
	"errors"

	"github.com/burngen/burngen/runtime/rt"
)

// RandomUniform fills dst with uniformly distributed random numbers from lo to hi (ONNX
// RandomUniform). Element i is lo + (hi − lo)·[rt.UniformAt](s, i), where s is [rt.Keyed](seed,
// key). It is computed in float64.
func RandomUniform[T Float](dst []T, lo, hi float64, seed int64, key []int64) {
	d := draws[T]{dst: dst, low: lo, span: hi - lo, seed: uint64(rt.Keyed(seed, key))}
	d.run(8)
}

// RandomNormal fills dst with normally distributed random numbers (ONNX RandomNormal). Element i is
// mean + scale·[rt.NormalAt](s, i), where s is [rt.Keyed](seed, key). It is computed in float64.
func RandomNormal[T Float](dst []T, mean, scale float64, seed int64, key []int64) {
	d := draws[T]{dst: dst, low: mean, span: scale, seed: uint64(rt.Keyed(seed, key)), normal: true}
	d.run(64)
}

// draws is the state of a running RandomUniform or RandomNormal. Element i of dst is low + span·r,
// where r is the i-th random number of the seed.
type draws[T Float] struct {
	dst       []T
	low, span float64
	seed      uint64
	normal    bool
}

var (
	draws32 slot[draws[float32], *draws[float32]]
	draws64 slot[draws[float64], *draws[float64]]
)

// run computes all elements, each of which takes about ns nanoseconds.
func (d *draws[T]) run(ns int) {
	shared := false
	if parts := rt.Parts(int64(len(d.dst)) * int64(ns)); parts > 1 {
		d.dst = onHeap(d.dst)
		switch d := any(unseen(d)).(type) {
		case *draws[float32]:
			shared = draws32.run(d, parts)
		case *draws[float64]:
			shared = draws64.run(d, parts)
		}
	}
	if !shared {
		d.Part(0, 1)
	}
}

// Part implements [rt.Task]. It computes part i of `parts` of the elements.
func (d *draws[T]) Part(i, parts int) {
	from, to := portion(len(d.dst), i, parts)
	if dst, ok := any(d.dst).([]float32); ok && !d.normal && hasUniform() {
		for to-from >= 32 {
			n := min((to-from)&^31, atOnce)
			uniform(&dst[from], n, uint64(from), d.seed, d.low, d.span)
			from += n
		}
	}
	for ; from < to; from++ {
		var r float64
		if d.normal {
			r = rt.NormalAt(d.seed, uint64(from))
		} else {
			r = rt.UniformAt(d.seed, uint64(from))
		}
		d.dst[from] = T(d.low + float64(d.span*r))
	}
}

var errNoColumns = errors.New("multinomial: no columns to draw from")

// Multinomial draws random columns for each row of x (ONNX Multinomial). x is [rows, columns], and
// dst is [rows, samples]. The probability of a column is proportional to the exponential of its
// element. Element i of dst is the first column at which the cumulative probability exceeds
// [rt.UniformAt](seed, i). It is the last column if the probabilities are NaN. Multinomial returns
// an error if there are no columns.
func Multinomial[I int32 | int64, T Float](dst []I, x []T, rows, columns, samples int, seed int64) error {
	dst, x = trim(dst, volume(rows, samples)), trim(x, volume(rows, columns))
	if len(dst) > 0 && columns == 0 {
		return errNoColumns
	}
	for i := range rows {
		row := x[i*columns:][:columns]
		top, total := highest(row), 0.0
		for _, v := range row {
			total += exp64(float64(v - top))
		}
		for k := i * samples; k < (i+1)*samples; k++ {
			left, j := float64(total*rt.UniformAt(uint64(seed), uint64(k))), 0
			for ; j < columns-1; j++ {
				if left -= exp64(float64(row[j] - top)); left < 0 {
					break
				}
			}
			dst[k] = I(j)
		}
	}
	return nil
}

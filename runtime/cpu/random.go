package cpu

import (
	"errors"

	"github.com/burngen/burngen/runtime/rt"
)

// RandomUniform fills dst with uniformly distributed random numbers from lo to hi (ONNX
// RandomUniform). Element i is lo + (hi − lo)·[rt.UniformAt](s, i), where s is [rt.Keyed](seed,
// key). It is computed in float64.
func RandomUniform[T Float](dst []T, lo, hi float64, seed int64, key []int64) {
	seed = rt.Keyed(seed, key)
	for i := range dst {
		dst[i] = T(lo + float64((hi-lo)*rt.UniformAt(uint64(seed), uint64(i))))
	}
}

// RandomNormal fills dst with normally distributed random numbers (ONNX RandomNormal). Element i is
// mean + scale·[rt.NormalAt](s, i), where s is [rt.Keyed](seed, key). It is computed in float64.
func RandomNormal[T Float](dst []T, mean, scale float64, seed int64, key []int64) {
	seed = rt.Keyed(seed, key)
	for i := range dst {
		dst[i] = T(mean + float64(scale*rt.NormalAt(uint64(seed), uint64(i))))
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

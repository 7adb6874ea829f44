package rt

import (
	"fmt"
	"hash/fnv"
	"math"
)

// Init describes the initial elements of a weight. The elements depend only on the description, the
// program's seed, and the weight's name and shape: adding or removing other weights changes nothing,
// and every machine produces the same bits.
type Init struct {
	// Kind is one of the Init… constants, which define the meaning of A and B.
	Kind string
	A, B float64
}

// The kinds of [Init].
const (
	InitConstant   = "constant"   // every element is A
	InitUniform    = "uniform"    // uniform in [A, B)
	InitNormal     = "normal"     // normal with mean A and standard deviation B
	InitTruncated  = "truncated"  // as InitNormal, truncated to [A − 2·B, A + 2·B]
	InitOrthogonal = "orthogonal" // orthonormal rows (or columns, if there are fewer columns than rows), multiplied by A
	InitGiven      = "given"      // the elements are stored beside the description
)

// InitSeed returns the random seed of the weight called name.
func InitSeed(seed uint64, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	a, _ := Philox(seed, h.Sum64())
	return a
}

// Fill sets the elements of a weight with this name and shape. It computes them in float64 and then
// rounds. InitOrthogonal treats the weight as a matrix with a row for each index of the first axis.
// Fill returns an error if the kind is unknown or is InitGiven.
func (n Init) Fill(dst []float32, seed uint64, name string, shape ...int) error {
	s := InitSeed(seed, name)
	var at func(i uint64) float64
	switch n.Kind {
	case InitConstant:
		at = func(uint64) float64 { return n.A }
	case InitUniform:
		at = func(i uint64) float64 { return n.A + float64((n.B-n.A)*UniformAt(s, i)) }
	case InitNormal:
		at = func(i uint64) float64 { return n.A + float64(n.B*NormalAt(s, i)) }
	case InitTruncated:
		at = func(i uint64) float64 { return n.A + float64(n.B*truncatedAt(s, i)) }
	case InitOrthogonal:
		n.orthogonal(dst, s, shape)
		return nil
	default:
		return fmt.Errorf("weight %q: %q draws no elements", name, n.Kind)
	}
	for i := range dst {
		dst[i] = float32(at(uint64(i)))
	}
	return nil
}

// truncatedAt returns a standard normal random number with a magnitude of at most 2. It is the
// first such number in the sequence [NormalAt](seed, i), NormalAt(seed, i + 2⁴⁸), ….
func truncatedAt(seed, i uint64) float64 {
	for {
		if x := NormalAt(seed, i); math.Abs(x) <= 2 {
			return x
		}
		i += 1 << 48
	}
}

// orthogonal fills dst with n.A·Q, where n.A is a number and Q a random matrix with shape[0] rows.
// The rows of Q are orthonormal. If Q has fewer columns than rows, its columns are orthonormal
// instead (Saxe and others, Exact solutions to the nonlinear dynamics of learning in deep linear
// neural networks, 2013).
func (n Init) orthogonal(dst []float32, seed uint64, shape []int) {
	rows := 1
	if len(shape) > 0 {
		rows = shape[0]
	}
	if rows == 0 || len(dst) == 0 {
		return
	}
	cols := len(dst) / rows
	count, width := min(rows, cols), max(rows, cols)
	basis := make([][]float64, count)
	for r := range basis {
		v := make([]float64, width)
		for i := range v {
			v[i] = NormalAt(seed, uint64(r*width+i))
		}
		for range 2 { // a second time, to remove what rounding left
			for _, u := range basis[:r] {
				d := dotOf(u, v)
				for i := range v {
					v[i] -= float64(d * u[i])
				}
			}
		}
		norm := math.Sqrt(dotOf(v, v))
		for i := range v {
			v[i] /= norm
		}
		basis[r] = v
	}
	for r := range rows {
		for c := range cols {
			u, i := r, c
			if rows > cols {
				u, i = c, r
			}
			dst[r*cols+c] = float32(n.A * basis[u][i])
		}
	}
}

func dotOf(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(x[i] * y[i])
	}
	return sum
}

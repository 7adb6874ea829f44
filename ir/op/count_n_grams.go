package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// CountNGrams counts n-grams in the rows of its first operand, [C] or [N, C], of i32, i64 or strings. An n-gram is
// a sequence of MinLength to MaxLength tokens. The second operand is the pool, the list of all n-grams to count, of
// the same element type. The n-grams of one token start at Starts[0] in the pool, the n-grams of two tokens at
// Starts[1], and so on. The third operand, i64, holds the column of the result for each n-gram. The result is
// f32[Size] or f32[N, Size]. If the pool holds the same n-gram twice, a match is counted for both copies.
//
// The tokens of an n-gram need not be adjacent in the row. The distance between neighbours must be constant, and at
// most MaxSkip+1. An n-gram of one token is counted once for each position.
type CountNGrams struct {
	Starts               []int
	MinLength, MaxLength int
	MaxSkip              int
	Size                 dim.Dim
}

// Infer returns f32[Size], or f32[N,Size] for an operand of rank 2. It returns an error if Starts does not divide
// the pool into n-grams, or if there is not one column index for each n-gram.
func (op CountNGrams) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType != ir.String && x.DType != ir.I64 && x.DType != ir.I32 {
		return nil, fmt.Errorf("tokens are %s, i32, i64 or strings expected", x.DType)
	}
	if err := sameDType(in[:2]); err != nil {
		return nil, err
	}
	if x.Rank() != 1 && x.Rank() != 2 || in[1].Rank() != 1 || in[2].Rank() != 1 || in[2].DType != ir.I64 {
		return nil, fmt.Errorf("tokens %s, pool %s, columns %s", x, in[1], in[2])
	}
	if op.MinLength < 1 || op.MaxLength < op.MinLength || op.MaxSkip < 0 {
		return nil, fmt.Errorf("lengths %d to %d with %d skips", op.MinLength, op.MaxLength, op.MaxSkip)
	}
	pool, ok := in[1].Elems().Int()
	columns, okColumns := in[2].Elems().Int()
	if !ok || !okColumns {
		return nil, fmt.Errorf("pool %s and columns %s of sizes that are not constant", in[1], in[2])
	}
	levels, err := op.levels(pool)
	if err != nil {
		return nil, err
	}
	if n := countNGrams(levels); n != columns {
		return nil, fmt.Errorf("%d columns for %d n-grams", columns, n)
	}
	shape := append([]dim.Dim{}, x.Shape[:x.Rank()-1]...)
	return []ir.Type{ir.TensorOf(ir.F32, append(shape, op.Size)...)}, nil
}

type nGrams struct {
	length int // number of tokens of each
	start  int // offset of the first in the pool
	count  int // number of n-grams
	first  int // index of the first among all n-grams of the pool
}

func (op CountNGrams) levels(pool int) ([]nGrams, error) {
	var levels []nGrams
	number := 0
	for i, start := range op.Starts {
		end := pool
		if i+1 < len(op.Starts) {
			end = op.Starts[i+1]
		}
		if start < 0 || start > end || end > pool || (end-start)%(i+1) != 0 || i == 0 && start != 0 {
			return nil, fmt.Errorf("n-grams of length %d are elements %d to %d of a pool of %d", i+1, start, end, pool)
		}
		count := (end - start) / (i + 1)
		levels = append(levels, nGrams{i + 1, start, count, number})
		number += count
	}
	return levels, nil
}

func countNGrams(levels []nGrams) int {
	n := 0
	for _, l := range levels {
		n += l.count
	}
	return n
}

// Flops counts one comparison for each choice of a token of the pool, a position in a row, and a distance.
func (op CountNGrams) Flops(in, _ []ir.Type) dim.Dim {
	tokens := in[0].Shape
	distances := tokens[len(tokens)-1].Min(dim.Const(op.MaxSkip)).Add(dim.Const(1))
	return dim.Product(in[0].Elems(), in[1].Elems(), distances)
}

// Eval returns the counts, f32[Size] or f32[N,Size]. It compares every n-gram with the tokens at
// every position. It returns an error if a column is out of range.
func (op CountNGrams) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, pool, columns := in[0], in[1], in[2]
	size, ok := op.Size.Int()
	if !ok {
		return nil, fmt.Errorf("size %s has no value", op.Size)
	}
	levels, err := op.levels(pool.Len())
	if err != nil {
		return nil, err
	}
	shape := append(append([]int{}, x.Shape[:x.Rank()-1]...), size)
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.F32, shape...)
	width, rows := x.Shape[x.Rank()-1], 1
	if x.Rank() == 2 {
		rows = x.Shape[0]
	}
	for _, l := range levels {
		if l.length < op.MinLength || l.length > op.MaxLength {
			continue
		}
		distances := min(op.MaxSkip, width) + 1
		if l.length == 1 {
			distances = 1
		}
		for g := range l.count {
			column, err := wrapIndex(columns.Int(l.first+g), size)
			if err != nil {
				return nil, err
			}
			for row := range rows {
				found := 0
				for d := 1; d <= distances; d++ {
					for at := 0; at+(l.length-1)*d < width; at++ {
						if equalTokens(x, row*width+at, d, pool, l.start+g*l.length, l.length) {
							found++
						}
					}
				}
				y.SetFloat(row*size+column, y.Float(row*size+column)+float64(found))
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// equalTokens reports whether n elements of x equal n elements of pool. The elements of x start at index i and are
// `distance` apart. The elements of pool start at index j and are adjacent.
func equalTokens(x *ir.Tensor, i, distance int, pool *ir.Tensor, j, n int) bool {
	for k := range n {
		if order, _ := compareElems(x, i+k*distance, pool, j+k); order != 0 {
			return false
		}
	}
	return true
}

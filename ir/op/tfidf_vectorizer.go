package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importTfIdfVectorizer(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	op := CountNGrams{
		Starts:    c.Ints("ngram_counts", nil),
		MinLength: c.Int("min_gram_length", 0), MaxLength: c.Int("max_gram_length", 0),
		MaxSkip: min(c.Int("max_skip_count", 0), math.MaxInt32),
	}
	columns, size, err := nGramColumns(c)
	if err != nil {
		return nil, err
	}
	op.Size = dim.Const(size)
	pool, err := nGramPool(c)
	if err != nil {
		return nil, err
	}
	if x.Type.DType == ir.I32 {
		x = ConvertTo(b, x, ir.I64)
	}
	levels, err := op.levels(pool.Len())
	if err != nil {
		return nil, err
	}
	if n := countNGrams(levels); n != columns.Len() {
		return nil, fmt.Errorf("%d ngram_indexes for %d n-grams", columns.Len(), n)
	}
	pool, columns = sortNGrams(levels, pool, columns)
	counts := b.Node(op, x, b.Const(pool), b.Const(columns))
	weights := c.Floats("weights", nil)
	if len(weights) > 0 && len(weights) < size {
		return nil, fmt.Errorf("%d weights for %d columns", len(weights), size)
	}
	switch mode := c.Text("mode", ""); mode {
	case "TF":
		return []*ir.Value{counts}, nil
	case "IDF":
		counts = b.Node(Min{}, counts, b.Scalar(ir.F32, 1))
	case "TFIDF":
	default:
		return nil, fmt.Errorf("unknown mode %q", mode)
	}
	if len(weights) > 0 {
		counts = b.Node(Mul{}, counts, b.Const(ir.FloatTensor(ir.F32, weights[:size]...)))
	}
	return []*ir.Value{counts}, nil
}

// nGramColumns returns the attribute ngram_indexes, which holds the column of each n-gram. size is the number of
// columns. It returns an error if the attribute is absent, or if an index is negative or too large.
func nGramColumns(c ir.Importer) (columns *ir.Tensor, size int, err error) {
	indexes := c.Ints("ngram_indexes", nil)
	if len(indexes) == 0 || slices.Min(indexes) < 0 || slices.Max(indexes) >= math.MaxInt32 {
		return nil, 0, fmt.Errorf("%d ngram_indexes, negative or too large", len(indexes))
	}
	return intTensor(indexes), slices.Max(indexes) + 1, nil
}

func nGramPool(c ir.Importer) (*ir.Tensor, error) {
	texts, numbers := c.Texts("pool_strings", nil), c.Ints("pool_int64s", nil)
	if (len(texts) > 0) == (len(numbers) > 0) {
		return nil, fmt.Errorf("pools of %d strings and of %d integers, one of the two expected", len(texts), len(numbers))
	}
	if len(texts) > 0 {
		return textTensor(texts), nil
	}
	return intTensor(numbers), nil
}

// sortNGrams sorts the n-grams of each length in increasing order. It returns the sorted pool, and columns in the
// same order.
func sortNGrams(levels []nGrams, pool, columns *ir.Tensor) (sortedPool, sortedColumns *ir.Tensor) {
	p, q := ir.NewTensor(pool.DType, pool.Len()), ir.NewTensor(ir.I64, columns.Len())
	for _, l := range levels {
		order := make([]int, l.count)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			for k := range l.length {
				if c, _ := compareElems(pool, l.start+a*l.length+k, pool, l.start+b*l.length+k); c != 0 {
					return c
				}
			}
			return 0
		})
		for i, from := range order {
			q.Copy(l.first+i, columns, l.first+from)
			for k := range l.length {
				p.Copy(l.start+i*l.length+k, pool, l.start+from*l.length+k)
			}
		}
	}
	return p, q
}

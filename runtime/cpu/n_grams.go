package cpu

// CountNGrams counts the n-grams of a pool in each row of x (ONNX TfIdfVectorizer). x is [rows,
// width] tokens, and dst is [rows, size]. The n-grams of one token start at pool[starts[0]], the
// n-grams of two tokens at pool[starts[1]], and so on. The n-grams of each length are sorted.
// `columns` holds, for each n-gram, its column in dst.
//
// Only n-grams of minLength to maxLength tokens count. An n-gram also counts where its tokens are
// apart: all distances between its tokens must be equal, and at most maxSkip+1. CountNGrams returns
// an [IndexError] for a column out of range; dst is then partly written.
func CountNGrams[T int32 | int64 | string](dst []float32, x, pool []T, columns []int64, rows, width, size int, starts []int, minLength, maxLength, maxSkip int) error {
	dst, x = trim(dst, volume(rows, size)), trim(x, volume(rows, width))
	clear(dst)
	for i, start := range starts {
		end := len(pool)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		g := nGrams[T]{pool[start:end], i + 1}
		to := columns[:g.count()]
		columns = columns[g.count():]
		if g.length < minLength || g.length > maxLength {
			continue
		}
		for row := range rows {
			if err := g.addCounts(dst[row*size:][:size], x[row*width:][:width], to, maxSkip); err != nil {
				return err
			}
		}
	}
	return nil
}

// nGrams are n-grams of one length in increasing order.
type nGrams[T int32 | int64 | string] struct {
	tokens []T
	length int
}

func (g nGrams[T]) count() int { return len(g.tokens) / g.length }

// addCounts counts how often each n-gram occurs in `row`. For each occurrence, it adds 1 to the
// element of counts at the n-gram's column.
func (g nGrams[T]) addCounts(counts []float32, row []T, columns []int64, maxSkip int) error {
	last := 1 // distance
	if g.length > 1 {
		last = min(min(maxSkip, len(row))+1, (len(row)-1)/(g.length-1))
	}
	for d := 1; d <= last; d++ {
		for at := range len(row) - (g.length-1)*d {
			lo, hi := g.find(row[at:], d)
			for _, c := range columns[lo:hi] {
				column, ok := fromFront(c, len(counts))
				if !ok {
					return &IndexError{Index: c, Dim: len(counts)}
				}
				counts[column]++
			}
		}
	}
	return nil
}

// find returns the range [lo, hi) of the n-grams that are equal to the first tokens of `row`. These
// tokens are row[0], row[distance], row[2·distance] and so on.
func (g nGrams[T]) find(row []T, distance int) (lo, hi int) {
	hi = g.count()
	for k := range g.length {
		token := row[k*distance]
		lo = g.after(lo, hi, k, func(t T) bool { return t < token })
		hi = g.after(lo, hi, k, func(t T) bool { return t == token })
	}
	return lo, hi
}

// after returns the index of the first n-gram in [lo, hi) whose token k does not satisfy `pass`, or
// hi if all satisfy it. The n-grams in [lo, hi) must have equal tokens before token k. N-grams that
// satisfy `pass` must come first.
func (g nGrams[T]) after(lo, hi, k int, pass func(T) bool) int {
	for lo < hi {
		mid := lo + (hi-lo)/2
		if pass(g.tokens[mid*g.length+k]) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

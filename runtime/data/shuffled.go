package data

// Shuffled returns the items of d in the order [NewPermutation](n, seed, 0). It needs no memory and
// returns d's errors. A [Loader] with Shuffle has another order in each epoch; Shuffled is for
// splitting a data set at random.
func Shuffled[T any](d Dataset[T], seed uint64) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	p := NewPermutation(d.Len(), seed, 0)
	return &view[T]{of: d, n: d.Len(), index: p.At}
}

package data

// Shuffled returns the items of d in the order [NewPermutation](n, seed, 0). It needs no memory and
// returns d's errors. The order is always the same: use Shuffled to split a data set at random, and
// a [Loader] with Shuffle for a new order in each epoch.
func Shuffled[T any](d Dataset[T], seed uint64) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	p := NewPermutation(d.Len(), seed, 0)
	return &view[T]{of: d, n: d.Len(), index: p.At}
}

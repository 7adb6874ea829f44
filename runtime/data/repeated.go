package data

// Repeated returns the items of d, repeated `times` times. It needs no memory. The data set has an
// error if `times` is negative or the number of items exceeds an int. Reading an item returns the
// errors of d.
func Repeated[T any](d Dataset[T], times int) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	n := d.Len()
	all, ok := product(n, max(0, times))
	if times < 0 || !ok {
		return failf[T]("repeated: %d items, %d times", n, times)
	}
	return &view[T]{of: d, n: all, index: func(i int) int { return i % n }}
}

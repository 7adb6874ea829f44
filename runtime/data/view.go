package data

type view[T any] struct {
	of Dataset[T]
	n  int // number of items, all with a valid index in of
	// index returns the index in `of` of item i.
	index func(i int) int
	// number of items in a block; 0 or 1 without blocks
	block int
	ints  scratch[int]
}

func (v *view[T]) Len() int   { return v.n }
func (v *view[T]) Block() int { return v.block }

func (v *view[T]) At(i int) (T, error) {
	if err := checkIndex(i, v.n); err != nil {
		return *new(T), err
	}
	return v.of.At(v.index(i))
}

// Many implements [ManyReader]. It translates the indices and reads the items from the data set of
// the view.
func (v *view[T]) Many(dst []T, at []int) error {
	inner := v.ints.get(len(at))
	defer v.ints.put(inner)
	for k, i := range at {
		if err := checkIndex(i, v.n); err != nil {
			return err
		}
		(*inner)[k] = v.index(i)
	}
	return readMany(v.of, dst, *inner)
}

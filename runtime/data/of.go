package data

// Of returns a data set whose items are the elements of a slice. It does not copy the slice, which
// must not change while the data set is in use.
func Of[T any](items []T) Dataset[T] { return slice[T](items) }

type slice[T any] []T

func (s slice[T]) Len() int { return len(s) }

func (s slice[T]) At(i int) (T, error) {
	if err := checkIndex(i, len(s)); err != nil {
		return *new(T), err
	}
	return s[i], nil
}

func (s slice[T]) Many(dst []T, at []int) error {
	if err := checkRoom(dst, at); err != nil {
		return err
	}
	for k, i := range at {
		if err := checkIndex(i, len(s)); err != nil {
			return err
		}
		dst[k] = s[i]
	}
	return nil
}

package data

import "fmt"

// Pair is an item made of two, such as an example and its target.
type Pair[X, Y any] struct {
	X X
	Y Y
}

// Zipped returns a data set of pairs: item i is the pair of item i of x and item i of y. Its [Err]
// is not nil if x or y has an error, or if x and y have different numbers of items. Reading an item
// returns the errors of x and y.
func Zipped[X, Y any](x Dataset[X], y Dataset[Y]) Dataset[Pair[X, Y]] {
	if err := Err(x); err != nil {
		return failed[Pair[X, Y]]{fmt.Errorf("zipped: %w", err)}
	}
	if err := Err(y); err != nil {
		return failed[Pair[X, Y]]{fmt.Errorf("zipped: %w", err)}
	}
	if x.Len() != y.Len() {
		return failf[Pair[X, Y]]("zipped: %d items and %d items", x.Len(), y.Len())
	}
	return &zipped[X, Y]{x: x, y: y}
}

type zipped[X, Y any] struct {
	x  Dataset[X]
	y  Dataset[Y]
	xs scratch[X]
	ys scratch[Y]
}

func (z *zipped[X, Y]) Len() int   { return z.x.Len() }
func (z *zipped[X, Y]) Block() int { return max(blockOf(z.x), blockOf(z.y)) }

func (z *zipped[X, Y]) At(i int) (p Pair[X, Y], err error) {
	if p.X, err = z.x.At(i); err == nil {
		p.Y, err = z.y.At(i)
	}
	if err != nil {
		return Pair[X, Y]{}, err
	}
	return p, nil
}

func (z *zipped[X, Y]) Many(dst []Pair[X, Y], at []int) error {
	if err := checkRoom(dst, at); err != nil {
		return err
	}
	xs, ys := z.xs.get(len(at)), z.ys.get(len(at))
	defer z.xs.put(xs)
	defer z.ys.put(ys)
	if err := readMany(z.x, *xs, at); err != nil {
		return err
	}
	if err := readMany(z.y, *ys, at); err != nil {
		return err
	}
	for k := range dst {
		dst[k] = Pair[X, Y]{(*xs)[k], (*ys)[k]}
	}
	return nil
}

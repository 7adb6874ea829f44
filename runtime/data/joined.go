package data

import (
	"fmt"
	"math"
	"slices"
)

// Joined returns a data set with the items of all sets, one set after the other. It needs no memory
// for items. An item has the error that it has in its set. The data set has an error if one of the
// sets has an error, or if the number of items exceeds an int.
func Joined[T any](sets ...Dataset[T]) Dataset[T] {
	j := &joined[T]{sets: slices.Clone(sets), begins: make([]int, len(sets)+1)}
	for k, d := range sets {
		if err := Err(d); err != nil {
			return failed[T]{fmt.Errorf("joined: set %d: %w", k, err)}
		}
		if d.Len() > math.MaxInt-j.begins[k] {
			return failf[T]("joined: more items than fit an int")
		}
		j.begins[k+1] = j.begins[k] + d.Len()
	}
	return j
}

type joined[T any] struct {
	sets   []Dataset[T]
	begins []int // index of the first item of each set, and the number of all items
	ints   scratch[int]
}

func (j *joined[T]) Len() int { return j.begins[len(j.sets)] }

func (j *joined[T]) set(i int) int {
	k, _ := slices.BinarySearch(j.begins, i+1)
	return k - 1
}

func (j *joined[T]) At(i int) (T, error) {
	if err := checkIndex(i, j.Len()); err != nil {
		return *new(T), err
	}
	k := j.set(i)
	return j.sets[k].At(i - j.begins[k])
}

// Many implements [ManyReader]. For adjacent indices that belong to the same set, it calls the set
// once.
func (j *joined[T]) Many(dst []T, indices []int) error {
	if err := checkRoom(dst, indices); err != nil {
		return err
	}
	inner := j.ints.get(len(indices))
	defer j.ints.put(inner)
	for from := 0; from < len(indices); {
		if err := checkIndex(indices[from], j.Len()); err != nil {
			return err
		}
		k, to := j.set(indices[from]), from
		for to < len(indices) && indices[to] >= j.begins[k] && indices[to] < j.begins[k+1] {
			(*inner)[to] = indices[to] - j.begins[k]
			to++
		}
		if err := readMany(j.sets[k], dst[from:to], (*inner)[from:to]); err != nil {
			return fmt.Errorf("set %d: %w", k, err)
		}
		from = to
	}
	return nil
}

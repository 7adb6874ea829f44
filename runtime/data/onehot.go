package data

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// OneHot converts categories, which are strings, to rows with a single 1. Categories are in sorted
// order. The zero value has no categories. [rt.SaveState] saves the categories with a run.
type OneHot struct{ names []string }

// NewOneHot returns the encoding of the distinct values.
func NewOneHot(values []string) *OneHot {
	_, names := Categories(values)
	return &OneHot{names}
}

// Len returns the number of categories.
func (o *OneHot) Len() int { return len(o.names) }

// Name returns the name of category i, or "" if there is no such category.
func (o *OneHot) Name(i int) string {
	if i < 0 || i >= len(o.names) {
		return ""
	}
	return o.names[i]
}

// Index returns the number of a value's category, from 0 to Len()-1. It returns -1 if the value is
// not a category.
func (o *OneHot) Index(value string) int {
	if i, ok := slices.BinarySearch(o.names, value); ok {
		return i
	}
	return -1
}

// Put writes the one-hot row of a value: the element of the value's category is 1, and the others
// are 0. If the empty string is not a category, it is a missing value: all elements are 0. Put
// returns an error if `row` does not have Len() elements, or if the value is not a category.
func (o *OneHot) Put(row []float32, value string) error {
	if len(row) != len(o.names) {
		return fmt.Errorf("row of %d columns: %d categories", len(row), len(o.names))
	}
	i := o.Index(value)
	if i < 0 && value != "" {
		return fmt.Errorf("%.100q is not one of %d categories", value, len(o.names))
	}
	clear(row)
	if i >= 0 {
		row[i] = 1
	}
	return nil
}

// State registers the categories. Restoring replaces them.
func (o *OneHot) State(s *rt.State) {
	rt.StateBytes(s, "categories", func() ([]byte, error) {
		list := make([][]byte, len(o.names)) // not strings, which JSON has in UTF-8 only
		for i, name := range o.names {
			list[i] = []byte(name)
		}
		return json.Marshal(list)
	}, func(saved []byte) (func(), error) {
		var list [][]byte
		if err := json.Unmarshal(saved, &list); err != nil {
			return nil, err
		}
		names := make([]string, len(list))
		for i, name := range list {
			names[i] = string(name)
		}
		if again := slices.Compact(slices.Sorted(slices.Values(names))); !slices.Equal(again, names) {
			return nil, fmt.Errorf("categories are not sorted and distinct")
		}
		return func() { o.names = names }, nil
	})
}

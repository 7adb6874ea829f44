package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// directions maps a key, such as "valid accuracy", to 1 if larger values are better, -1 if smaller
// ones are, and 0 if neither.
type directions map[string]int

func directionsOf(series []Series) directions {
	d := directions{}
	for _, s := range series {
		d[Train.Key(s.Name)], d[Valid.Key(s.Name)] = s.Better, s.Better
	}
	return d
}

// of returns the direction of a key. It returns an error if there is no such key, or if its
// direction is 0.
func (d directions) of(key string) (int, error) {
	better, ok := d[key]
	if !ok {
		return 0, d.unknown(key)
	}
	if better == 0 {
		return 0, fmt.Errorf("%q: neither larger nor smaller values are better", key)
	}
	return better, nil
}

func (d directions) unknown(key string) error {
	var valid []string
	for k := range d {
		if strings.HasPrefix(k, string(Valid)+" ") {
			valid = append(valid, fmt.Sprintf("%q", k))
		}
	}
	slices.Sort(valid)
	return fmt.Errorf("no metric %q: there are %s, and the same of train", key, strings.Join(valid, ", "))
}

// chooser is implemented by keepers, stoppers and factors that look at metrics. bind is called
// once, before the run. It returns an error if a metric does not exist.
type chooser interface{ bind(d directions) error }

func bind(x any, d directions) error {
	if c, ok := x.(chooser); ok {
		return c.bind(d)
	}
	return nil
}

// isBetter reports whether value is better than before by more than delta. better is 1 if larger
// values are better, -1 if smaller ones are. NaN is not better than anything, and any number is
// better than NaN.
func isBetter(better int, value, before, delta float64) bool {
	if math.IsNaN(value) || math.IsNaN(before) {
		return !math.IsNaN(value)
	}
	if better < 0 {
		return value < before-delta
	}
	return value > before+delta
}

package optim

import (
	"errors"
	"fmt"
	"math"
)

// Zero stands for the number 0 in a configuration, because a field that is 0 gets its default.
// Zero is so small that it becomes 0 as a float32.
const Zero = math.SmallestNonzeroFloat64

type setting struct {
	name  string
	value *float64
	def   float64 // the default, for 0
	limit float64
}

// beta returns the setting of a decay factor. name is its name in errors. *value must be at least 0
// and below 1; if it is 0, it becomes def, the default.
func beta(name string, value *float64, def float64) setting {
	return setting{name, value, def, 1}
}

// positive returns the setting of a finite nonnegative number.
func positive(name string, value *float64, def float64) setting {
	return setting{name, value, def, math.MaxFloat32}
}

// complete replaces zeros by defaults. It returns one error that lists all numbers out of range.
func complete(optimizer string, settings ...setting) error {
	var errs []error
	for _, s := range settings {
		if *s.value == 0 {
			*s.value = s.def
		}
		if v := *s.value; !(v >= 0 && v < s.limit) {
			errs = append(errs, fmt.Errorf("%s: %s is %v: at least 0 and below %v expected", optimizer, s.name, v, s.limit))
		}
	}
	return errors.Join(errs...)
}

func named(optimizer string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", optimizer, err)
	}
	return nil
}

// The conversions force rounding of products before additions, because machines differ in fusing
// the two.

func rest(beta float64) float32 { return float32(1 - beta) }

// bias returns 1 - betaⁿ, the bias correction of a moving average after n steps.
func bias(beta float64, n int64) float64 {
	power := 1.0
	for square := beta; n > 0; n /= 2 {
		if n%2 == 1 {
			power = float64(power * square)
		}
		square = float64(square * square)
	}
	return 1 - power
}

func shrunk(rate, decay float64) float64 { return 1 - float64(rate*decay) }

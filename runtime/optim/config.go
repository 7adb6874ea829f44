package optim

import (
	"errors"
	"fmt"
	"math"
)

// Zero stands for zero in a configuration, where 0 stands for the default. As a float32
// it is zero.
const Zero = math.SmallestNonzeroFloat64

// setting is a number of a configuration: at least 0, and below a limit.
type setting struct {
	name    string
	value   *float64
	usually float64 // what 0 stands for
	limit   float64
}

// beta is a factor of what an optimizer remembers: less than 1.
func beta(name string, value *float64, usually float64) setting {
	return setting{name, value, usually, 1}
}

// positive is any number that is not negative.
func positive(name string, value *float64, usually float64) setting {
	return setting{name, value, usually, math.MaxFloat32}
}

// complete replaces zeros by defaults. Errors, all of them at once: numbers out of range.
func complete(optimizer string, settings ...setting) error {
	var errs []error
	for _, s := range settings {
		if *s.value == 0 {
			*s.value = s.usually
		}
		if v := *s.value; !(v >= 0 && v < s.limit) {
			errs = append(errs, fmt.Errorf("%s: %s is %v: at least 0 and below %v expected", optimizer, s.name, v, s.limit))
		}
	}
	return errors.Join(errs...)
}

// named puts an optimizer's name before an error.
func named(optimizer string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", optimizer, err)
	}
	return nil
}

// The conversions keep a product from being added without having been rounded, which is
// how machines would differ.

// rest returns 1 - beta, as a float32.
func rest(beta float64) float32 { return float32(1 - beta) }

// bias returns 1 - betaⁿ, by which a mean of n numbers falls short that began with 0.
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

// shrunk returns 1 - rate·decay.
func shrunk(rate, decay float64) float64 { return 1 - float64(rate*decay) }

package system

import (
	"errors"
	"math"

	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/rt"
)

// sensor reads the values of a series.
type sensor struct {
	series learn.Series
	first  float64 // the value when the sensor was made, NaN if it takes two readings to know one
	read   func() (float64, error)
}

// gauge returns a sensor whose value is the result of the function `read`. It returns no sensor if
// the first call of `read` fails.
func gauge(name, unit string, read func() (float64, error)) []sensor {
	first, err := safely(read)
	if err != nil {
		return nil
	}
	return []sensor{{series(name, unit), first, read}}
}

// counters are two growing counters in the same unit.
type counters struct{ used, available float64 }

// share returns a sensor for an amount such as processor time. The sensor gives the part of the
// amount that was used since the last reading, in percent of the amount that was available. It
// returns no sensor if the first reading fails.
func share(name string, read func() (counters, error)) []sensor {
	last, err := safely(read)
	if err != nil {
		return nil
	}
	return []sensor{{series(name, "%"), math.NaN(), func() (float64, error) {
		now, err := read()
		if err != nil {
			return 0, err
		}
		used, available := now.used-last.used, now.available-last.available
		last = now
		if available <= 0 {
			return 0, errors.New("no time has passed")
		}
		return 100 * max(0, used) / available, nil
	}}}
}

func series(name, unit string) learn.Series { return learn.Series{Name: name, Unit: unit, Curve: true} }

// safely calls the function `read`. It returns a panic as an error, because a sensor must not end a training.
func safely[T any](read func() (T, error)) (v T, err error) {
	defer rt.Recover("system", &err)
	return read()
}

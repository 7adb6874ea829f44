package gpu

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Choice is a target on which a model may compute.
type Choice[M any] struct {
	// Target is the name of the target.
	Target string
	// Load loads the model. Its error wraps [ErrNoDevice] if the machine does not have the target.
	Load func(options ...Option) (M, error)
}

const targetVariable = "BURNGEN_TARGET"

// First loads a model on the first target in choices that the machine has. It skips devices whose driver computes on
// the CPU. The environment variable BURNGEN_TARGET forces a target by its name; the driver may then compute on the
// CPU. First returns an error if the forced target is unknown or its Load fails, if Load fails for another reason
// than a missing device, or if the machine does not have any of the targets.
func First[M any](options []Option, choices ...Choice[M]) (M, error) {
	var none M
	if forced := os.Getenv(targetVariable); forced != "" {
		i := slices.IndexFunc(choices, func(c Choice[M]) bool { return c.Target == forced })
		if i < 0 {
			return none, fmt.Errorf("%s=%q: one of %s expected", targetVariable, forced, targetsOf(choices))
		}
		m, err := choices[i].Load(options...)
		if err != nil {
			return none, fmt.Errorf("%s=%s: %w", targetVariable, forced, err)
		}
		return m, nil
	}
	options = append(slices.Clone(options), hardware)
	var missing []error
	for _, c := range choices {
		m, err := c.Load(options...)
		switch {
		case err == nil:
			return m, nil
		case !errors.Is(err, ErrNoDevice):
			return none, err
		}
		missing = append(missing, err)
	}
	return none, errors.Join(missing...)
}

func targetsOf[M any](choices []Choice[M]) string {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Target
	}
	return strings.Join(names, ", ")
}

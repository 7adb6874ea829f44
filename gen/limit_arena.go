package gen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/arena"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir/pass"
)

func (m *Model) checkRoom() error {
	if m.options.Room <= 0 {
		return nil
	}
	functions := slices.Clone(m.Functions)
	if m.Training != nil {
		for _, f := range m.Training.Functions() {
			functions = append(functions, f.Func)
		}
	}
	var errs []error
	for _, f := range functions {
		if size := arena.Size(f.Plan); size > m.options.Room {
			errs = append(errs, errors.New(tooLarge(f, size, m.options.Room)))
		}
	}
	return errors.Join(errs...)
}

const shownAtPeak = 3

func tooLarge(f *program.Func, size, room int64) string {
	at := ""
	if len(f.IR.Symbols()) > 0 {
		at = fmt.Sprintf(" with %d for symbols", pass.RematExtent)
	}
	peak := arena.Peak(f.Plan)
	var largest []string
	for _, b := range peak[:min(len(peak), shownAtPeak)] {
		largest = append(largest, fmt.Sprintf("%q %s %s", b.Name, b.Value.Type, Bytes(pass.AtExtent(b.Bytes))))
	}
	return fmt.Sprintf("@%s needs an arena of %s%s, and %s are allowed; the largest of %d values that are in use at once: %s",
		f.IR.Name, Bytes(size), at, Bytes(room), len(peak), strings.Join(largest, ", "))
}

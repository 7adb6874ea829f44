package exec

import (
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/runtime/rt"
)

// Refuses returns why a program cannot be run without generating it, nil where it can:
// it calls functions that only the user's program links.
func Refuses(f *program.Func) error {
	for _, c := range f.Customs() {
		return rt.At(c.Node.Pos, c.Op.Absent())
	}
	return nil
}

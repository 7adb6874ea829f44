package exec

import (
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/runtime/rt"
)

// Refuses returns an error if a program cannot be run without generating code, because it calls
// functions of the user's program.
func Refuses(f *program.Func) error {
	for _, c := range f.Customs() {
		return rt.At(c.Node.Pos, c.Op.Absent())
	}
	return nil
}

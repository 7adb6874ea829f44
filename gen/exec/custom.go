package exec

import (
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/runtime/rt"
)

// Refuses returns an error if the program calls functions of the user's program, because then it
// cannot run without generated code.
func Refuses(f *program.Func) error {
	for _, c := range f.Customs() {
		return rt.At(c.Node.Pos, c.Op.Absent())
	}
	return nil
}

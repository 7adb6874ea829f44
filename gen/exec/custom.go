package exec

import (
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/runtime/rt"
)

// Refuses returns an error if f has custom operators. Only generated code can call their Go functions.
func Refuses(f *program.Func) error {
	for _, c := range f.Customs() {
		return rt.At(c.Node.Pos, c.Op.Absent())
	}
	return nil
}

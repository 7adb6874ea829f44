package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// domain is a set of element types for which an operator is defined.
type domain interface {
	// has reports whether the set contains d.
	has(d ir.DType) bool
	// String returns the name of the set in errors.
	String() string
}

type (
	anything  struct{}
	numbers   struct{}
	floats    struct{}
	integers  struct{}
	unsigneds struct{}
	signeds   struct{} // the type has negative numbers
	booleans  struct{}
	texts     struct{}
)

func (anything) has(ir.DType) bool    { return true }
func (numbers) has(d ir.DType) bool   { return d.IsFloat() || d.IsInt() }
func (floats) has(d ir.DType) bool    { return d.IsFloat() }
func (integers) has(d ir.DType) bool  { return d.IsInt() }
func (unsigneds) has(d ir.DType) bool { return d.Class() == ir.Unsigned }
func (signeds) has(d ir.DType) bool   { return d.IsFloat() || d.Class() == ir.Signed }
func (booleans) has(d ir.DType) bool  { return d == ir.Bool }
func (texts) has(d ir.DType) bool     { return d == ir.String }

func (anything) String() string  { return "any element type" }
func (numbers) String() string   { return "numbers" }
func (floats) String() string    { return "floats" }
func (integers) String() string  { return "integers" }
func (unsigneds) String() string { return "unsigned integers" }
func (signeds) String() string   { return "floats or signed integers" }
func (booleans) String() string  { return "booleans" }
func (texts) String() string     { return "strings" }

func checkDomain(in []ir.Type, d domain) error {
	for i, t := range in {
		if !t.IsZero() && !d.has(t.DType) {
			return fmt.Errorf("operand %d is %s, %s expected", i, t.DType, d)
		}
	}
	return nil
}

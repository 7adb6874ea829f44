package op

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
)

// parse stores the number in text as element i of y, converted to y's type (ONNX Cast). The number is written in
// plain or scientific notation, or is INF, +INF, −INF or NaN. Case, and blanks around the number, are ignored.
// parse returns an error if text is not a number in the syntax of [strconv.ParseFloat].
func (op Cast) parse(y *ir.Tensor, i int, text string) error {
	word := strings.TrimSpace(text)
	switch {
	case op.To == ir.String:
		y.SetText(i, text)
		return nil
	case op.To == ir.U64:
		if v, err := strconv.ParseUint(word, 10, 64); err == nil {
			y.SetInt(i, int64(v))
			return nil
		}
	case op.To.IsInt():
		if v, err := strconv.ParseInt(word, 10, 64); err == nil {
			y.SetInt(i, v)
			return nil
		}
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(v, 0) {
		return fmt.Errorf("element %d: %q is not a number", i, text)
	}
	op.setFloat(y, i, v)
	return nil
}

// formatElem returns element i of x as text. Integers and bools are decimal. Floats have the fewest digits that
// identify them in their type. They are in scientific notation if their magnitude is at least 1e16, or below 1e-4
// and not 0. The texts of floats that are not finite are NaN, INF and -INF.
func formatElem(x *ir.Tensor, i int) string {
	switch {
	case x.DType == ir.U64:
		return strconv.FormatUint(uint64(x.Int(i)), 10)
	case !x.DType.IsFloat():
		return strconv.FormatInt(x.Int(i), 10)
	}
	v := x.Float(i)
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToUpper(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	}
	short, _ := strconv.ParseFloat(shortest(x.DType, v), 64)
	if a := math.Abs(v); v != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(short, 'e', -1, 64)
	}
	if text := strconv.FormatFloat(short, 'f', -1, 64); strings.Contains(text, ".") {
		return text
	}
	return strconv.FormatFloat(short, 'f', 1, 64)
}

// shortest returns v, a number of type d, in scientific notation. It uses the fewest digits that identify v in type
// d.
func shortest(d ir.DType, v float64) string {
	if d == ir.F64 || d == ir.F32 {
		return strconv.FormatFloat(v, 'e', -1, d.Bits())
	}
	for digits := 0; ; digits++ {
		text := strconv.FormatFloat(v, 'e', digits, 64)
		if back, err := strconv.ParseFloat(text, 64); digits == 17 || err == nil && ir.RoundFloat(d, back) == v {
			return text
		}
	}
}

package cpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// CastToText formats numbers (ONNX Cast). Integers are in decimal. Floats have the fewest digits
// that identify them in their type. Magnitudes below 1e-4 or from 1e16 on are in scientific
// notation. A NaN becomes NaN, and an infinity INF or -INF.
func CastToText[S Real](dst []string, src []S) {
	switch {
	case stored[S]():
		var room [256]float32
		src = trim(src, len(dst))
		for i := 0; i < len(dst); i += len(room) {
			part := room[:min(len(room), len(dst)-i)]
			widen(part, src[i:])
			each(dst[i:][:len(part)], part, storedText[S])
		}
	case isFloat[S]():
		bits := 8 * int(unsafe.Sizeof(S(0)))
		each(dst, src, func(v S) string { return floatText(float64(v), strconv.FormatFloat(float64(v), 'e', -1, bits)) })
	case S(0)-1 > 0:
		each(dst, src, func(v S) string { return strconv.FormatUint(uint64(v), 10) })
	default:
		each(dst, src, func(v S) string { return strconv.FormatInt(int64(v), 10) })
	}
}

// CastBoolToText writes false as 0 and true as 1 (ONNX Cast).
func CastBoolToText(dst []string, src []bool) {
	each(dst, src, func(v bool) string {
		if v {
			return "1"
		}
		return "0"
	})
}

// storedText returns the text of v, which is exact in S.
func storedText[S Real](v float32) string {
	var short string
	var back [1]S
	var wide [1]float32
	for digits := range 9 {
		short = strconv.FormatFloat(float64(v), 'e', digits, 64)
		parsed, err := strconv.ParseFloat(short, 64)
		wide[0] = rt.RoundToOdd(parsed)
		if powers, ok := any(back[:]).([]rt.Float8E8M0); ok {
			powers[0] = rt.ToFloat8E8M0(wide[0], true, rt.RoundNearest)
		} else {
			narrow(back[:], wide[:], true)
		}
		if widen(wide[:], back[:]); err == nil && wide[0] == v {
			break
		}
	}
	return floatText(float64(v), short)
}

// floatText returns the text of x. `short` is x in scientific form with the fewest digits that
// identify x in its type.
func floatText(x float64, short string) string {
	v, err := strconv.ParseFloat(short, 64)
	switch a := math.Abs(x); {
	case err != nil:
		return short
	case a != a:
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToUpper(short), "+")
	case v != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	if text := strconv.FormatFloat(v, 'f', -1, 64); strings.Contains(text, ".") {
		return text
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// CastFromText parses numbers (ONNX Cast). A text is a plain or scientific number, or INF, +INF,
// -INF or NaN in any case, with optional white space around it. Integers wrap. If D is an integer
// type, a text that is not an integer is parsed as a float64 and converted as by [Cast].
// CastFromText returns an error if a text is not a number; dst is then partly written.
func CastFromText[D Number](dst []D, src []string) error {
	src = trim(src, len(dst))
	for i, text := range src {
		v, err := number[D](strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("cast: element %d: %q is not a number", i, text)
		}
		dst[i] = v
	}
	return nil
}

// CastTextToBool reports which texts are nonzero numbers (ONNX Cast). It returns an error if a text is
// not a number; dst is then partly written.
func CastTextToBool(dst []bool, src []string) error {
	src = trim(src, len(dst))
	for i := range src {
		var v [1]float64
		if err := CastFromText(v[:], src[i:][:1]); err != nil {
			return fmt.Errorf("cast: element %d: %q is not a number", i, src[i])
		}
		dst[i] = v[0] != 0
	}
	return nil
}

// number parses word, a number as [CastFromText] describes it.
func number[D Number](word string) (D, error) {
	unsigned := !isFloat[D]() && D(0)-1 > 0
	if unsigned && unsafe.Sizeof(D(0)) == 8 {
		if v, err := strconv.ParseUint(word, 10, 64); err == nil {
			return D(v), nil
		}
	} else if !isFloat[D]() {
		if v, err := strconv.ParseInt(word, 10, 64); err == nil {
			return D(v), nil
		}
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, err
	}
	if isFloat[D]() {
		return D(v), nil
	}
	return truncated[D](v), nil
}

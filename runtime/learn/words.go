package learn

import (
	"fmt"
	"math"
	"strconv"
)

var nan = Number(math.NaN())

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// format returns v with four significant digits and its unit, or "no data" for NaN.
func format(v Number, unit string) string {
	if math.IsNaN(float64(v)) {
		return "no data"
	}
	text := strconv.FormatFloat(float64(v), 'g', 4, 64)
	if unit != "" {
		text += " " + unit
	}
	return text
}

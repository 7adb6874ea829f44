package learn

import (
	"fmt"
	"math"
	"strconv"
)

// nan stands for no data.
var nan = Number(math.NaN())

// count returns a number with a word, which gets an s unless the number is 1.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// format returns a value with four digits and its unit, or "no data".
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

package progress

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Number formats v with about four digits, such as 0.2841. If v is below 0.01, or is 100,000 or
// more, it has two digits and an exponent, such as 1.0e-4. NaN is a dash.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'f', -1, 64)
	case a == 0:
		return "0"
	case a < 0.01 || a >= 1e5:
		return short(strconv.FormatFloat(v, 'e', 1, 64))
	case a < 1:
		return strconv.FormatFloat(v, 'f', 4, 64)
	default:
		digits := max(0, 3-int(math.Log10(a)))
		return strconv.FormatFloat(v, 'f', digits, 64)
	}
}

// short removes the plus sign and the leading zeros of an exponent: 1.0e-04 becomes 1.0e-4.
func short(s string) string {
	m, e, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	sign := ""
	if strings.HasPrefix(e, "-") {
		sign = "-"
	}
	return m + "e" + sign + strings.TrimLeft(e, "+-0")
}

// Value returns v with its unit. Percentages have one digit after the point. NaN is a dash.
func Value(v float64, unit string) string {
	switch {
	case unit == "" || math.IsNaN(v):
		return Number(v)
	case unit == "%" && math.Abs(v) < 1e5:
		return strconv.FormatFloat(v, 'f', 1, 64) + " %"
	}
	return Number(v) + " " + unit
}

// Count formats a number of things with at most three digits, such as 506, 2.1k or 33M. A number
// above 999T has more digits, such as 5000T. From 1,000,000T on it has an exponent, such as 1.0e6T.
// NaN and infinities are formatted as by [Number].
func Count(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number(v)
	}
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T"} {
		if math.Abs(v) < 999.5 {
			break
		}
		v, prefix = v/1000, p
	}
	if prefix != "" && math.Abs(v) < 9.95 {
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + prefix
	}
	if math.Abs(v) >= 1e6 {
		return Number(v) + prefix
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + prefix
}

// Clock formats a duration as hours, minutes and seconds, such as "00:03:12". From 100 hours on it
// gives whole days, such as "5 days". A negative duration counts as 0.
func Clock(d time.Duration) string {
	s := int64(max(d, 0).Round(time.Second) / time.Second)
	if h := s / 3600; h >= 100 {
		return fmt.Sprintf("%d days", h/24)
	}
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Bytes returns a number of bytes with a decimal unit, as in 4.1 MB; see [Count].
func Bytes(n int64) string {
	c := Count(float64(n))
	if i := strings.IndexAny(c, "kMGT"); i >= 0 {
		return c[:i] + " " + c[i:] + "B"
	}
	return c + " B"
}

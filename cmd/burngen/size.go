package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

type size int64

// units lists the units of sizes, the largest first.
var units = []struct {
	name  string
	bytes float64
}{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1}}

// String implements [flag.Value]. It returns the size in the largest unit that gives a whole number. It returns ""
// for 0.
func (s *size) String() string {
	if s == nil || *s == 0 {
		return ""
	}
	for _, u := range units {
		if n := float64(*s) / u.bytes; n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', -1, 64) + u.name
		}
	}
	return ""
}

// Set implements [flag.Value]. It parses a number with a unit, in upper or lower case. It returns an
// error for other text, and for a size below 1 byte or of 2⁶² bytes and more.
func (s *size) Set(text string) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(strings.ToLower(text), strings.ToLower(u.name))
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n *= u.bytes; err == nil && n >= 1 && n < 1<<62 {
			*s = size(n)
			return nil
		}
		break
	}
	return fmt.Errorf("a size expected, such as 64MiB or 1.5GB")
}

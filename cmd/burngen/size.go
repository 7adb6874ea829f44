package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is the value of a flag for a number of bytes, such as 64MiB.
type size int64

// units are the units of sizes, each with its number of bytes, the largest first.
var units = []struct {
	name  string
	bytes float64
}{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1}}

// String returns the size in the largest unit in which it is a whole number.
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

// Set parses a number above zero with a unit. Upper and lower case are the same.
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

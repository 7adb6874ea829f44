// Program prints the output of a small model for an input of zeros.
package main

import (
	"os"
	"strconv"

	"program/tiny"
)

func main() {
	m, err := tiny.Load()
	if err != nil {
		os.Exit(1)
	}
	y, err := m.Forward(make([]tiny.Image, 1))
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(strconv.FormatFloat(float64(y[0][0]), 'g', -1, 32) + "\n")
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/burngen/burngen/examples/digits/fit"
	model "github.com/burngen/burngen/examples/digits/model/auto"
)

const (
	bold  = "\x1b[1m"
	green = "\x1b[32m"
	dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// show prints pictures and bars if f is a terminal, else a table.
func show(f *os.File, answers []answer) error {
	w := bufio.NewWriter(f)
	if terminal(f) {
		bars(w, answers)
	} else {
		table(w, answers)
	}
	return w.Flush()
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// table prints a line for each picture: its digit, and the probabilities of 0 to 9 in percent.
func table(w io.Writer, answers []answer) {
	longest := len("picture")
	for _, a := range answers {
		longest = max(longest, len(a.name))
	}
	fmt.Fprintf(w, "%-*s  digit ", longest, "picture")
	for digit := range 10 {
		fmt.Fprintf(w, "%6d", digit)
	}
	fmt.Fprintln(w)
	for _, a := range answers {
		fmt.Fprintf(w, "%-*s  %5d ", longest, a.name, a.digit)
		for _, p := range a.probabilities {
			fmt.Fprintf(w, "%6.1f", 100*p)
		}
		fmt.Fprintln(w)
	}
}

// bars prints the image of each picture, as the model gets it, beside a bar for each digit.
func bars(w io.Writer, answers []answer) {
	for _, a := range answers {
		for row := range fit.Side / 2 {
			fmt.Fprintf(w, "  %s", pixels(&a.image, row))
			switch digit := row - 2; {
			case row == 0:
				fmt.Fprintf(w, "   %s%s%s", bold, a.name, plain)
			case digit == a.digit:
				fmt.Fprintf(w, "   %s%s%s%s", bold, green, line(digit, a.probabilities[digit]), plain)
			case digit >= 0 && digit < 10:
				fmt.Fprintf(w, "   %s%s%s", dim, line(digit, a.probabilities[digit]), plain)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
}

// pixels returns rows 2·row and 2·row+1 of an image as a line of text. Each character is an upper half block: its
// colour is the upper pixel, and its background is the lower pixel.
func pixels(m *model.Image, row int) string {
	var s strings.Builder
	for x := range fit.Side {
		fmt.Fprintf(&s, "\x1b[38;5;%d;48;5;%dm▀", grey(m[0][2*row][x]), grey(m[0][2*row+1][x]))
	}
	return s.String() + plain
}

func grey(ink float32) int { return 232 + int(23*ink+.5) }

// line returns a bar for a probability, in steps of an eighth of a character.
func line(digit int, p float64) string {
	const width = 24
	eighths := int(p*width*8 + .5)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return fmt.Sprintf("%d  %-*s %5.1f %%", digit, width, bar, 100*p)
}

package metric

import (
	"strings"
	"unicode"
)

// nGrams returns how often each n-gram of tokens occurs. Tokens have no white space.
func nGrams(tokens []string, n int) map[string]int {
	list := map[string]int{}
	for i := range len(tokens) - n + 1 {
		list[strings.Join(tokens[i:i+n], " ")]++
	}
	return list
}

func total(grams map[string]int) int {
	sum := 0
	for _, n := range grams {
		sum += n
	}
	return sum
}

// overlap returns the number of n-grams that a and b have in common, with repetitions.
func overlap(a, b map[string]int) int {
	sum := 0
	for gram, n := range a {
		sum += min(n, b[gram])
	}
	return sum
}

// words splits `text` at white space, as Python's str.split does.
func words(text string) []string { return strings.FieldsFunc(text, isSpace) }

// isSpace reports whether c is white space to Python, which also counts the ASCII separators 0x1c
// to 0x1f.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

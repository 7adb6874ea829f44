package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/burngen/burngen/examples/text/gpt"
	"github.com/burngen/burngen/runtime/data"
)

var words = strings.Fields("nought one two three four five six seven eight nine ten")

// sums returns at least n bytes of sentences such as "two and three is five.".
func sums(n int) string {
	rng := rand.New(rand.NewPCG(1, 0))
	var b strings.Builder
	for b.Len() < n {
		i, k := rng.IntN(6), rng.IntN(6)
		fmt.Fprintf(&b, "%s and %s is %s.\n", words[i], words[k], words[i+k])
	}
	return b.String()
}

// goOn returns n bytes that a model generates after a prompt.
func goOn(m model, prompt string, n int, rng *rand.Rand) (string, error) {
	tokens := data.Bytes(prompt)
	for range n {
		var window [1]gpt.Tokens
		seen := copy(window[0][:], tokens[max(0, len(tokens)-len(window[0])):])
		logits, err := m.Forward(window[:])
		if err != nil {
			return "", err
		}
		tokens = append(tokens, draw(logits[0][max(0, seen-1)], rng))
	}
	var b strings.Builder
	for _, t := range tokens[len(prompt):] {
		b.WriteByte(byte(t))
	}
	return b.String(), nil
}

// draw samples a token from logits at temperature 0.7.
func draw(logits [256]float32, rng *rand.Rand) int64 {
	highest := logits[0]
	for _, v := range logits {
		highest = max(highest, v)
	}
	var until [256]float64 // cumulative weights
	var sum float64
	for i, v := range logits {
		sum += math.Exp(float64(v-highest) / 0.7)
		until[i] = sum
	}
	at := rng.Float64() * sum
	for i, u := range until {
		if at < u {
			return int64(i)
		}
	}
	return 255
}

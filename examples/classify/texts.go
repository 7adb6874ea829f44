package main

import (
	"math/rand/v2"
	"strings"
)

type note struct {
	text string
	// index in topics
	topic int
}

// topics lists words that are typical of each topic.
var topics = []struct {
	name  string
	words string
}{
	{"sport", "goal match team referee league striker penalty coach stadium season scored defender"},
	{"weather", "rain wind cloud storm sunshine frost degrees forecast thunder snow humid breeze"},
	{"cooking", "butter oven garlic simmer recipe flour pan onion roast pepper dough whisk"},
	{"computers", "compiler kernel browser server memory bug keyboard network pointer cache thread disk"},
}

// others lists words of all topics.
const others = "the a very our last next this again before after still never good bad new old first second morning evening people said"

// write returns n notes. About two of three words are from the list `others`. Most other words are from the note's
// topic, and a few are from any topic.
func write(n int, seed uint64) []note {
	notes := make([]note, n)
	for i := range notes {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		topic := r.IntN(len(topics))
		var words []string
		for range 6 + r.IntN(8) {
			from := others
			switch p := r.Float64(); {
			case p < 0.3:
				from = topics[topic].words
			case p < 0.36:
				from = topics[r.IntN(len(topics))].words
			}
			words = append(words, pick(r, from))
		}
		words[r.IntN(len(words))] = pick(r, topics[topic].words)
		notes[i] = note{strings.Join(words, " "), topic}
	}
	return notes
}

func pick(r *rand.Rand, words string) string {
	list := strings.Fields(words)
	return list[r.IntN(len(list))]
}

package data

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// Bytes returns the bytes of text as tokens from 0 to 255.
func Bytes(text string) []int64 {
	tokens := make([]int64, len(text))
	for i := range tokens {
		tokens[i] = int64(text[i])
	}
	return tokens
}

// Categories numbers the distinct values in sorted order, from 0. It returns the number of each
// element of values, and the distinct values.
func Categories(values []string) (numbers []int64, names []string) {
	names = slices.Compact(slices.Sorted(slices.Values(values)))
	numbers = make([]int64, len(values))
	for i, v := range values {
		k, _ := slices.BinarySearch(names, v)
		numbers[i] = int64(k)
	}
	return numbers, names
}

// Vocabulary assigns a token to each character of a text.
type Vocabulary struct {
	characters []rune // sorted
}

// Characters returns the vocabulary of a text. Bytes that are not UTF-8 count as U+FFFD.
func Characters(text string) *Vocabulary {
	return &Vocabulary{slices.Compact(slices.Sorted(slices.Values([]rune(text))))}
}

// Len returns the number of characters. Tokens are 0 to Len()-1.
func (v *Vocabulary) Len() int { return len(v.characters) }

// Encode returns the tokens of text. It returns an error if text has a character that is not in the
// vocabulary.
func (v *Vocabulary) Encode(text string) ([]int64, error) {
	tokens := make([]int64, 0, len(text))
	for i, c := range text {
		k, ok := slices.BinarySearch(v.characters, c)
		if !ok {
			return nil, fmt.Errorf("text: %q at byte %d is not in the vocabulary of %d characters", c, i, v.Len())
		}
		tokens = append(tokens, int64(k))
	}
	return tokens, nil
}

// Decode returns the text of tokens. Unknown tokens become U+FFFD.
func (v *Vocabulary) Decode(tokens []int64) string {
	var b strings.Builder
	for _, t := range tokens {
		if t < 0 || t >= int64(v.Len()) {
			b.WriteRune('\ufffd')
			continue
		}
		b.WriteRune(v.characters[t])
	}
	return b.String()
}

// Windows cuts tokens into windows for training a language model. x[i] starts at token i·stride,
// and y[i] one token later, so that it holds the successor of each token of x[i]. W is an array of
// int64 with the length of a window, such as [64]int64. Tokens that do not fill a window at the end
// are not used. It returns an error if W is not such an array, stride is below 1, or the windows
// exceed [rt.ArenaLimit].
func Windows[W any](tokens []int64, stride int) (x, y []W, err error) {
	length, err := window[W]()
	if err != nil {
		return nil, nil, err
	}
	if stride < 1 {
		return nil, nil, fmt.Errorf("windows: stride %d: at least 1 expected", stride)
	}
	if room := len(tokens) - 1 - length; room >= 0 {
		n := room/stride + 1
		if err := rt.CheckSize[W](n); err != nil {
			return nil, nil, fmt.Errorf("windows: %w", err)
		}
		x, y = make([]W, n), make([]W, n)
		for i := range n {
			cut(&x[i], &y[i], tokens[i*stride:])
		}
	}
	return x, y, nil
}

// RandomWindows yields batches of size windows at random positions, forever; see [Windows]. A batch
// is valid until the next one. It returns an error if W is not an array of int64, size is below 1
// or exceeds [rt.ArenaLimit], rng is nil, or there are too few tokens for a window.
func RandomWindows[W any](tokens []int64, size int, rng *rand.Rand) (iter.Seq2[[]W, []W], error) {
	length, err := window[W]()
	switch {
	case err != nil:
		return nil, err
	case size < 1:
		return nil, fmt.Errorf("windows: batches of %d: at least 1 expected", size)
	case rng == nil:
		return nil, fmt.Errorf("windows: no generator")
	case rt.CheckSize[W](size) != nil:
		return nil, fmt.Errorf("windows: %w", rt.CheckSize[W](size))
	case len(tokens) <= length:
		return nil, fmt.Errorf("windows: %d tokens: a window and what follows need %d", len(tokens), length+1)
	}
	return func(yield func(x, y []W) bool) {
		x, y := make([]W, size), make([]W, size)
		for {
			for i := range x {
				cut(&x[i], &y[i], tokens[rng.IntN(len(tokens)-length):])
			}
			if !yield(x, y) {
				return
			}
		}
	}, nil
}

// window returns the length of W, an array of int64, or an error for other types.
func window[W any]() (int, error) {
	t := reflect.TypeFor[W]()
	if t.Kind() != reflect.Array || t.Elem() != reflect.TypeFor[int64]() || t.Len() == 0 {
		return 0, fmt.Errorf("windows: a window is a %v: an array of int64 expected, as [64]int64", t)
	}
	return t.Len(), nil
}

// cut fills x with the first tokens and y with their successors.
func cut[W any](x, y *W, tokens []int64) {
	copy(rt.FlatOf[int64](x), tokens)
	copy(rt.FlatOf[int64](y), tokens[1:])
}

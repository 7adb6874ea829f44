package data

import (
	"fmt"
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

// Categories numbers the distinct values in sorted order, from 0. `names` holds the distinct values
// in this order, and names[numbers[i]] is values[i].
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

// Characters returns a vocabulary of the distinct characters of text. Bytes that are not UTF-8
// count as U+FFFD.
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

// Windows returns windows of tokens for training a language model. Item i is a pair of windows. X
// begins at token i·stride. Y begins one token later, so that Y[j] is the token after X[j]. W is an
// array of int64 with the length of a window, such as [64]int64. Tokens at the end that do not fill
// a window are not used. The tokens must not change while the data set is in use. The data set has
// an error if W is not such an array or stride is below 1.
//
// For windows at random positions, pass the windows with stride 1 to [Sampled].
func Windows[W any](tokens []int64, stride int) Dataset[Pair[W, W]] {
	length, err := lengthOf[W]()
	if err != nil {
		return failed[Pair[W, W]]{err}
	}
	if stride < 1 {
		return failf[Pair[W, W]]("windows: stride %d: at least 1 expected", stride)
	}
	w := &windows[W]{tokens: tokens, stride: stride}
	if room := len(tokens) - 1 - length; room >= 0 {
		w.n = room/stride + 1
	}
	return w
}

type windows[W any] struct {
	tokens    []int64
	stride, n int
}

func (w *windows[W]) Len() int { return w.n }

func (w *windows[W]) At(i int) (p Pair[W, W], err error) {
	if err := checkIndex(i, w.n); err != nil {
		return p, err
	}
	copy(rt.FlatOf[int64](&p.X), w.tokens[i*w.stride:])
	copy(rt.FlatOf[int64](&p.Y), w.tokens[i*w.stride+1:])
	return p, nil
}

// lengthOf returns the length of W, an array of int64, or an error for other types.
func lengthOf[W any]() (int, error) {
	t := reflect.TypeFor[W]()
	if t.Kind() != reflect.Array || t.Elem() != reflect.TypeFor[int64]() || t.Len() == 0 {
		return 0, fmt.Errorf("windows: a window is a %v: an array of int64 expected, as [64]int64", t)
	}
	return t.Len(), nil
}

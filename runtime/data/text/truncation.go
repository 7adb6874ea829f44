package text

import "fmt"

// Strategies of truncation.
const (
	LongestFirst = iota // truncate the longer text, then both
	OnlyFirst           // truncate the first text
	OnlySecond          // truncate the second text
)

var (
	strategies = []string{"LongestFirst", "OnlyFirst", "OnlySecond"}
	directions = []string{"Right", "Left"}
)

// Truncation says how encodings are truncated.
type Truncation struct {
	Length   int  // maximum number of tokens, special tokens included
	Strategy int  // LongestFirst, OnlyFirst or OnlySecond
	Left     bool // remove tokens at the beginning of a text, not at its end

	stride int // how far the reference's overflowing parts overlap; kept for saving
}

func readTruncation(o *object) *Truncation {
	f := o.optional("truncation")
	if f == nil {
		return nil
	}
	t := &Truncation{
		Length: need[int](f, "max_length"), Strategy: choice(f, "strategy", -1, strategies...),
		Left: choice(f, "direction", 0, directions...) == 1, stride: need[int](f, "stride"),
	}
	if f.err == nil {
		f.err = t.check()
	}
	o.fail(f.err)
	return t
}

func (t *Truncation) check() error {
	if t.Length < 0 || t.Strategy < LongestFirst || t.Strategy > OnlySecond {
		return fmt.Errorf("truncation: length %d, strategy %d", t.Length, t.Strategy)
	}
	return nil
}

// apply truncates the encodings of one or two texts so that they have at most t.Length−added tokens
// together. added is the number of special tokens that are added later. It returns an error if
// `added` exceeds t.Length, if the strategy truncates the second text and there is only one, or if
// the strategy is [OnlyFirst] or [OnlySecond] and no token of the truncated text would be left.
func (t *Truncation) apply(parts []*Encoding, added int) error {
	length, total := t.Length-added, 0
	for _, p := range parts {
		total += p.Len()
	}
	if length < 0 {
		return fmt.Errorf("truncation to %d tokens: %d are added to the text", t.Length, added)
	}
	if total <= length {
		return nil
	}
	if len(parts) == 1 && t.Strategy == LongestFirst || length == 0 {
		for i := range parts {
			t.shorten(parts, i, length)
		}
		return nil
	}
	if t.Strategy == LongestFirst {
		shorter := min(parts[0].Len(), parts[1].Len())
		first := min(length/2, shorter)
		second := length - first
		if parts[0].Len() > parts[1].Len() {
			first, second = second, first
		}
		t.shorten(parts, 0, first)
		t.shorten(parts, 1, second)
		return nil
	}
	which := 0
	if t.Strategy == OnlySecond {
		which = 1
	}
	if which >= len(parts) {
		return fmt.Errorf("truncation of the second text: there is only one")
	}
	keep := parts[which].Len() - (total - length)
	if keep <= 0 {
		return fmt.Errorf("truncation to %d tokens: the %s text has only %d of %d", t.Length, []string{"first", "second"}[which], parts[which].Len(), total+added)
	}
	t.shorten(parts, which, keep)
	return nil
}

// shorten removes tokens of parts[which] until at most `keep` are left. It removes the first tokens
// if t.Left is true, else the last ones.
func (t *Truncation) shorten(parts []*Encoding, which, keep int) {
	n := parts[which].Len()
	switch {
	case n <= keep:
	case t.Left:
		parts[which] = parts[which].slice(n-keep, n)
	default:
		parts[which] = parts[which].slice(0, keep)
	}
}

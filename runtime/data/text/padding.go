package text

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Padding fills encodings up to the same length.
type Padding struct {
	Length   int    // 0 means that of the longest encoding of a batch
	Multiple int    // the length is a multiple of it; 0 means 1
	ID       int64  // number of the token that fills
	TypeID   int64  // its type
	Token    string // its text
	Left     bool   // fill at the beginning
}

// readPadding reads the field "padding".
func readPadding(o *object) *Padding {
	f := o.optional("padding")
	if f == nil {
		return nil
	}
	p := &Padding{
		Multiple: get(f, "pad_to_multiple_of", 0), ID: need[int64](f, "pad_id"), TypeID: need[int64](f, "pad_type_id"),
		Token: need[string](f, "pad_token"), Left: choice(f, "direction", -1, directions...) == 1,
	}
	var name string
	switch s := f.at("strategy"); {
	case json.Unmarshal(s.raw, &name) != nil:
		fixed, err := s.object()
		if err != nil {
			f.fail(err)
			break
		}
		p.Length = need[int](fixed, "Fixed")
		f.fail(fixed.err)
	case name != "BatchLongest":
		f.fail(s.errorf("%q is not supported", name))
	}
	if f.err == nil {
		f.err = p.check()
	}
	o.fail(f.err)
	return p
}

// maxPadding bounds the length of padded encodings.
const maxPadding = 1 << 20

func (p *Padding) check() error {
	if p.Length < 0 || p.Length > maxPadding || p.Multiple < 0 || p.Multiple > maxPadding {
		return fmt.Errorf("padding: length %d, multiple of %d", p.Length, p.Multiple)
	}
	return nil
}

// apply fills encodings.
func (p *Padding) apply(all []*Encoding) {
	length := p.Length
	if length == 0 {
		for _, e := range all {
			length = max(length, e.Len())
		}
	}
	if p.Multiple > 0 {
		length = (length + p.Multiple - 1) / p.Multiple * p.Multiple
	}
	for i, e := range all {
		if e.Len() < length {
			all[i] = p.padded(e, length)
		}
	}
}

// padded returns e, filled up to length tokens. e has fewer tokens.
func (p *Padding) padded(e *Encoding, length int) *Encoding {
	fill := &Encoding{}
	for range length - e.Len() {
		fill.add(p.ID, p.TypeID, p.Token, Span{}, -1, -1)
	}
	fill.Attention = slices.Repeat([]int64{0}, fill.Len())
	if p.Left {
		return concat(fill, e)
	}
	return concat(e, fill)
}

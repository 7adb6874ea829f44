package text

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Padding says how encodings are padded to the same length.
type Padding struct {
	Length   int    // 0 means the length of the longest encoding of a batch
	Multiple int    // the padded length is rounded up to a multiple of it; 0 means 1
	ID       int64  // id of the padding token
	TypeID   int64  // type id of the padding token
	Token    string // text of the padding token
	Left     bool   // pad at the beginning, not at the end
}

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

// maxPadding is the largest Length and Multiple of a [Padding].
const maxPadding = 1 << 20

func (p *Padding) check() error {
	if p.Length < 0 || p.Length > maxPadding || p.Multiple < 0 || p.Multiple > maxPadding {
		return fmt.Errorf("padding: length %d, multiple of %d", p.Length, p.Multiple)
	}
	return nil
}

// apply pads encodings to a common length. The length is p.Length, or the length of the longest
// encoding if p.Length is 0; it is rounded up to a multiple of p.Multiple. Longer encodings do
// not change.
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

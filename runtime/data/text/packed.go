package text

import (
	"fmt"
	"math"
	"reflect"

	"github.com/burngen/burngen/runtime/rt"
)

// Texts is a data set of texts, such as [Lines] and [Files].
type Texts interface {
	Len() int
	At(i int) (string, error)
}

// Window is an example for training a language model. X and Y are windows of tokens, and Y[j] is the
// token after X[j]. W is an array of int64.
type Window[W any] struct{ X, Y W }

// PackOptions configure [Pack].
type PackOptions struct {
	Stride int    // from the beginning of a window to the next; 0 means the length of a window
	End    string // a token after each text; "" for none
}

// Packed is a data set of windows of tokens for training a language model. The windows are cut from
// the tokens of several texts, which are put one after the other.
type Packed[W any] struct {
	tokens         []uint32
	length, stride int
}

// Pack encodes texts without adding special tokens, truncating or padding. It puts the tokens of all
// texts one after the other and cuts them into windows. A window may have tokens of several texts.
// Tokens that do not fill a window at the end are not used. W is an array of int64 with the length of
// a window, such as [64]int64. The tokens take four bytes of memory each.
//
// It returns an error if W is not such an array, if the stride is negative, or if the tokenizer does
// not have the token End. It also returns an error if a text cannot be read or encoded.
func Pack[W any](t *Tokenizer, texts Texts, o PackOptions) (*Packed[W], error) {
	w := reflect.TypeFor[W]()
	if w.Kind() != reflect.Array || w.Elem() != reflect.TypeFor[int64]() || w.Len() == 0 {
		return nil, fmt.Errorf("pack: a window is a %v: an array of int64 expected, as [64]int64", w)
	}
	p := &Packed[W]{length: w.Len(), stride: o.Stride}
	if p.stride == 0 {
		p.stride = p.length
	}
	if p.stride < 0 {
		return nil, fmt.Errorf("pack: stride %d: at least 1 expected", p.stride)
	}
	end, ok := t.ID(o.End)
	if o.End != "" && !ok {
		return nil, fmt.Errorf("pack: the tokenizer has no token %q", o.End)
	}
	plain := t.WithoutSpecial()
	for i := range texts.Len() {
		text, err := texts.At(i)
		var e *Encoding
		if err == nil {
			e, err = plain.encode(nil, text)
		}
		if err != nil {
			return nil, fmt.Errorf("pack: text %d: %w", i, err)
		}
		if o.End != "" {
			e.IDs = append(e.IDs, end)
		}
		for _, id := range e.IDs {
			if id < 0 || id > math.MaxUint32 {
				return nil, fmt.Errorf("pack: text %d: token %d is not from 0 to %d", i, id, uint32(math.MaxUint32))
			}
			p.tokens = append(p.tokens, uint32(id))
		}
	}
	return p, nil
}

// Tokens returns the number of tokens of all texts.
func (p *Packed[W]) Tokens() int { return len(p.tokens) }

// Len returns the number of windows.
func (p *Packed[W]) Len() int {
	room := len(p.tokens) - 1 - p.length
	if room < 0 {
		return 0
	}
	return room/p.stride + 1
}

// At returns a window. It may be called by several goroutines at a time. It returns an error if there
// is no such window.
func (p *Packed[W]) At(i int) (Window[W], error) {
	var w Window[W]
	if i < 0 || i >= p.Len() {
		return w, fmt.Errorf("window %d of %d", i, p.Len())
	}
	x, y := rt.FlatOf[int64](&w.X), rt.FlatOf[int64](&w.Y)
	for k := range p.length {
		at := i*p.stride + k
		x[k], y[k] = int64(p.tokens[at]), int64(p.tokens[at+1])
	}
	return w, nil
}

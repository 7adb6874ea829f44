package ir

import (
	"errors"
	"strings"
)

// Signature is the type of a function: the types of its parameters and of its results.
type Signature struct{ Params, Results []Type }

// ParseSignature parses a signature in the form that String returns, such as "(f32[N,C], f32[C,K])
// -> f32[N,K]". Several results are in parentheses; a single result may be. Blanks may separate the
// words. ParseSignature returns an error for other texts.
func ParseSignature(text string) (s Signature, err error) {
	p := &parser{src: text}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case syntaxError:
			why, _ := strings.CutPrefix(e.err.Error(), "line 1: ")
			s, err = Signature{}, errors.New(why)
		default:
			panic(e)
		}
	}()
	p.skip()
	s.Params = p.types()
	p.expect("->")
	if p.peek("(") {
		s.Results = p.types()
	} else {
		s.Results = []Type{p.typ()}
	}
	if p.at < len(p.src) {
		p.fail("%q after the result", p.src[p.at:])
	}
	return s, nil
}

func (p *parser) types() []Type {
	types := []Type{}
	p.expect("(")
	for !p.accept(")") {
		if len(types) > 0 {
			p.expect(",")
		}
		types = append(types, p.typ())
	}
	return types
}

// String returns the text form: "(f32[N,C], f32[C,K]) -> f32[N,K]".
func (s Signature) String() string {
	if len(s.Results) == 1 {
		return typeList(s.Params) + " -> " + s.Results[0].String()
	}
	return typeList(s.Params) + " -> " + typeList(s.Results)
}

func typeList(types []Type) string {
	texts := make([]string, len(types))
	for i, t := range types {
		texts[i] = t.String()
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

package text

import "errors"

type template struct {
	single, pair []templatePart
}

// maxTemplate is the largest number of parts in a template, and of tokens in a part. A file that
// exceeds it is rejected.
const maxTemplate = 256

// templatePart is a text or a list of special tokens.
type templatePart struct {
	// index of the text, 0 or 1; -1 for tokens
	text   int
	typeID int64
	tokens []special
}

func readTemplate(o *object) template {
	tokens := readTemplateTokens(o)
	return template{readParts(o, "single", 1, tokens), readParts(o, "pair", 2, tokens)}
}

// readTemplateTokens reads the special tokens that templates may name, keyed by name.
func readTemplateTokens(o *object) map[string][]special {
	all := map[string][]special{}
	n, err := o.at("special_tokens").object()
	if err != nil {
		o.fail(err)
		return nil
	}
	for name := range n.fields {
		f, err := n.at(name).object()
		if err != nil {
			o.fail(err)
			return nil
		}
		ids, texts := need[[]int64](f, "ids"), need[[]string](f, "tokens")
		if len(ids) != len(texts) || len(ids) > maxTemplate {
			f.fail(f.errorf("%d numbers and %d tokens: as many of both expected, at most %d", len(ids), len(texts), maxTemplate))
		}
		if o.fail(f.err); f.err != nil {
			return nil
		}
		tokens := make([]special, len(ids))
		for i := range ids {
			tokens[i] = special{id: ids[i], text: texts[i]}
		}
		all[name] = tokens
	}
	return all
}

// readParts reads the template called name. `texts` is the number of texts that the template takes:
// 1 or 2. tokens maps the names of special tokens in a template to the tokens that they stand for.
func readParts(o *object, name string, texts int, tokens map[string][]special) []templatePart {
	var parts []templatePart
	nodes := list(o, name)
	if len(nodes) > maxTemplate {
		o.fail(o.at(name).errorf("%d parts: at most %d expected", len(nodes), maxTemplate))
		return nil
	}
	for _, n := range nodes {
		p, err := readPart(n, texts, tokens)
		if err != nil {
			o.fail(err)
			return nil
		}
		parts = append(parts, p)
	}
	return parts
}

func readPart(n node, texts int, tokens map[string][]special) (templatePart, error) {
	f, err := n.object()
	if err != nil {
		return templatePart{}, err
	}
	part := templatePart{text: -1}
	name := "SpecialToken"
	if !f.at("Sequence").missing() {
		name = "Sequence"
	}
	p, err := f.at(name).object()
	if err != nil {
		return part, err
	}
	part.typeID = need[int64](p, "type_id")
	if name == "Sequence" {
		if part.text = choice(p, "id", -1, "A", "B"); part.text >= texts {
			p.fail(p.at("id").errorf("a template of one text has no B"))
		}
		return part, p.err
	}
	id := need[string](p, "id")
	known, ok := tokens[id]
	if !ok {
		p.fail(p.at("id").errorf("%q is not in special_tokens", id))
	}
	for _, t := range known {
		part.tokens = append(part.tokens, t.ofType(part.typeID))
	}
	return part, p.err
}

func (t template) parts(pair bool) []templatePart {
	if pair {
		return t.pair
	}
	return t.single
}

func (t template) added(pair bool) int {
	n := 0
	for _, p := range t.parts(pair) {
		n += len(p.tokens)
	}
	return n
}

func (t template) process(texts []*Encoding, add bool) ([]*Encoding, error) {
	if len(texts) > 2 {
		return nil, errors.New("a template cannot follow another template")
	}
	var out []*Encoding
	for _, p := range t.parts(len(texts) == 2) {
		switch {
		case p.text >= 0:
			out = append(out, texts[p.text].withType(p.typeID))
		case add:
			out = append(out, encode(p.tokens))
		}
	}
	return out, nil
}

package text

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxDepth is the largest nesting depth of sequences in a tokenizer file.
const maxDepth = 16

// node is a JSON value in a tokenizer file. raw is empty if the value is absent.
type node struct {
	path string
	raw  json.RawMessage
}

func (n node) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", n.path, fmt.Errorf(format, args...))
}

// missing reports whether the value is absent or null.
func (n node) missing() bool { return len(n.raw) == 0 || string(n.raw) == "null" }

// object is a JSON object. err is the first error of reading its fields.
type object struct {
	node
	fields map[string]json.RawMessage
	err    error
}

func (n node) object() (*object, error) {
	o := &object{node: n}
	if n.missing() {
		return nil, n.errorf("an object is missing")
	}
	if err := json.Unmarshal(n.raw, &o.fields); err != nil {
		return nil, n.errorf("%w", err)
	}
	return o, nil
}

// kind returns the value as an object, and the text of the object's field "type". It returns an
// error if depth exceeds maxDepth.
func (n node) kind(depth int) (*object, string, error) {
	if depth > maxDepth {
		return nil, "", n.errorf("more than %d nested sequences", maxDepth)
	}
	o, err := n.object()
	if err != nil {
		return nil, "", err
	}
	kind := need[string](o, "type")
	return o, kind, o.err
}

func (o *object) unknown(kind string) error {
	return o.at("type").errorf("%q is not supported", kind)
}

// at returns the field called name, which may be absent.
func (o *object) at(name string) node {
	path := name
	if o.path != "" {
		path = o.path + "." + name
	}
	return node{path, o.fields[name]}
}

// optional returns a field that is an object, or nil if the field is absent or null. Any other
// value is an error of o.
func (o *object) optional(name string) *object {
	n := o.at(name)
	if n.missing() {
		return nil
	}
	f, err := n.object()
	if err != nil {
		o.fail(err)
		return nil
	}
	return f
}

func (o *object) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// get returns a field, or the argument `missing` if the field is absent or null. A value that is
// not a T is an error of o.
func get[T any](o *object, name string, missing T) T {
	n := o.at(name)
	if n.missing() {
		return missing
	}
	var v T
	if err := json.Unmarshal(n.raw, &v); err != nil {
		o.fail(n.errorf("%w", err))
		return missing
	}
	return v
}

// need returns a field. A field that is absent, null or not a T is an error of o; need then returns
// the zero value.
func need[T any](o *object, name string) T {
	if n := o.at(name); n.missing() {
		o.fail(n.errorf("the field is missing"))
	}
	var zero T
	return get(o, name, zero)
}

// character returns a field that is a string of one character. Anything else is an error of o.
func character(o *object, name string) rune {
	s := need[string](o, name)
	c, size := utf8.DecodeRuneInString(s)
	if size != len(s) || s == "" {
		o.fail(o.at(name).errorf("%q: one character expected", s))
	}
	return c
}

// choice returns the index in names of the value of a string field. If the field is absent or null,
// choice returns `missing`; a negative `missing` makes this an error of o. A string that is not in
// names is an error of o.
func choice(o *object, name string, missing int, names ...string) int {
	n := o.at(name)
	if n.missing() {
		if missing < 0 {
			o.fail(n.errorf("the field is missing"))
		}
		return max(missing, 0)
	}
	s := get(o, name, "")
	for i, known := range names {
		if s == known {
			return i
		}
	}
	o.fail(n.errorf("%q: one of %q expected", s, names))
	return 0
}

func (o *object) element(name string, i int) node {
	return node{path: fmt.Sprintf("%s[%d]", o.at(name).path, i)}
}

// list returns the elements of a field, which must be an array.
func list(o *object, name string) []node {
	var nodes []node
	for i, raw := range need[[]json.RawMessage](o, name) {
		nodes = append(nodes, node{o.element(name, i).path, raw})
	}
	return nodes
}

// readAll calls read for each element of a field, which must be an array. It stops at the first
// error, which becomes an error of o. depth is the depth of o.
func readAll[F any](o *object, name string, depth int, read func(node, int) (F, error)) []F {
	var all []F
	for _, n := range list(o, name) {
		f, err := read(n, depth+1)
		if err != nil {
			o.fail(err)
			break
		}
		all = append(all, f)
	}
	return all
}

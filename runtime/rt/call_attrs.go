package rt

// Attr is an attribute of a custom operator's node. Its value is an int64, float32 or
// string, or a slice of one of these.
type Attr struct {
	Name  string
	Value any
}

// Attrs are the attributes of a custom operator's node. It is a mistake to read an attribute as
// another kind than its own. The method then returns its argument def, and [Call.Err] returns the
// first mistake.
type Attrs struct{ call *Call }

// All returns the attributes in the model's order. The caller must not modify them.
func (a Attrs) All() []Attr {
	if a.call == nil {
		return nil
	}
	return a.call.attrs
}

// Has reports whether the node has an attribute of this name.
func (a Attrs) Has(name string) bool {
	for _, attr := range a.All() {
		if attr.Name == name {
			return true
		}
	}
	return false
}

// Int returns an integer attribute, or def if the node does not have it.
func (a Attrs) Int(name string, def int64) int64 { return attribute(a, name, def) }

// Float returns a float attribute, or def if the node does not have it.
func (a Attrs) Float(name string, def float32) float32 { return attribute(a, name, def) }

// Text returns a string attribute, or def if the node does not have it.
func (a Attrs) Text(name string, def string) string { return attribute(a, name, def) }

// Ints returns an attribute that is a list of integers, or def if the node does not have it. The
// caller must not modify the result.
func (a Attrs) Ints(name string, def []int64) []int64 { return attribute(a, name, def) }

// Floats returns an attribute that is a list of floats, or def if the node does not have it. The
// caller must not modify the result.
func (a Attrs) Floats(name string, def []float32) []float32 { return attribute(a, name, def) }

// Texts returns an attribute that is a list of strings, or def if the node does not have it. The
// caller must not modify the result.
func (a Attrs) Texts(name string, def []string) []string { return attribute(a, name, def) }

func attribute[T any](a Attrs, name string, def T) T {
	for _, attr := range a.All() {
		if attr.Name != name {
			continue
		}
		v, ok := attr.Value.(T)
		if !ok {
			a.call.fail("%s: attribute %q is %T, not %T", a.call.name, name, attr.Value, def)
			return def
		}
		return v
	}
	return def
}

package ir

// Importer gives an import function access to one node of a foreign model. The methods of Importer end the
// surrounding [Try] if the node is malformed. An attribute that the import function does not read causes a warning.
type Importer interface {
	// Builder returns the builder to which the replacement of the node is appended.
	Builder() *Builder
	// Op returns the name of the operator in the model.
	Op() string
	// Opset returns the version of the operator set that applies to the node.
	Opset() int
	// Producer returns the name of the program that wrote the model, or "" if unknown.
	Producer() string

	// NumArgs returns the number of operands, including absent ones.
	NumArgs() int
	// Arg returns operand i, or nil if it is absent.
	Arg(i int) *Value
	// Constant returns the value of operand i if the model defines it: as a constant, an
	// initializer, or the result of a few small steps on constants. It returns nil if the operand
	// is absent, large, or depends on inputs.
	Constant(i int) *Tensor
	// NumResults returns the number of results, including unused ones.
	NumResults() int
	// Wants reports whether result i is used, that is, has a name.
	Wants(i int) bool
	// ResultType returns the type that the model declares for result i, if any.
	ResultType(i int) (Type, bool)

	// Has reports whether the node has an attribute.
	Has(name string) bool
	// The following methods return an attribute, or def if the node does not have it.
	Int(name string, def int) int
	Ints(name string, def []int) []int
	Float(name string, def float64) float64
	Floats(name string, def []float64) []float64
	Text(name string, def string) string
	Texts(name string, def []string) []string
	DType(name string, def DType) DType
	// Type returns a type attribute, or the zero Type if the node does not have it. Its extents are
	// the extents of a container's elements.
	Type(name string) Type
	// Tensor returns a tensor attribute, or nil if the node does not have it.
	Tensor(name string) *Tensor
	// Attributes returns the attributes of the node, which must be numbers, strings and lists of
	// these. An attribute of another kind ends the Try.
	Attributes() []Attribute
	// GraphRank returns the rank that a graph attribute declares for its input i, or 0 if it does
	// not declare a rank.
	GraphRank(name string, i int) int
	// Graph builds a nested block from a graph attribute. params are the types of its parameters,
	// in order; their names come from the graph.
	Graph(name string, params []Type) *Block
	// Warn shows a warning to the user, once for all nodes of the operator.
	Warn(text string)
}

// Attribute is an attribute of a node. Value has type i64, f32 or string. Its rank is 0 for a single
// value and 1 for a list.
type Attribute struct {
	Name  string
	Value *Tensor
}

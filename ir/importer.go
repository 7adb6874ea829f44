package ir

// Importer is one node of a foreign model, as the import functions of the
// operators see it. Its methods stop the surrounding [Try] when the node is
// malformed. An attribute that no call asks for is unknown: the model is read with a
// warning.
type Importer interface {
	// Builder returns the builder that the node's replacement is appended to.
	Builder() *Builder
	// Op returns the operator's name as the model writes it.
	Op() string
	// Opset returns the version of the operator set that the node is read by.
	Opset() int
	// Producer returns the name of the program that wrote the model, "" where that is not
	// said.
	Producer() string

	// NumArgs returns the number of operands, absent ones included.
	NumArgs() int
	// Arg returns operand i, nil when it is absent.
	Arg(i int) *Value
	// Constant returns the value of operand i when the model gives it: as a constant, an
	// initializer, or what follows from such in a few small steps. It is nil when it is
	// absent, large, or computed from inputs.
	Constant(i int) *Tensor
	// NumResults returns the number of results, unused ones included.
	NumResults() int
	// Wants reports whether result i has a name.
	Wants(i int) bool
	// ResultType returns the type the model declares for result i, if any.
	ResultType(i int) (Type, bool)

	// Has reports whether the node has an attribute.
	Has(name string) bool
	// The others return an attribute, or def when the node does not have it.
	Int(name string, def int) int
	Ints(name string, def []int) []int
	Float(name string, def float64) float64
	Floats(name string, def []float64) []float64
	Text(name string, def string) string
	Texts(name string, def []string) []string
	DType(name string, def DType) DType
	// Type returns a type attribute, the zero Type when the node does not have it. Its
	// extents are those of a container's elements.
	Type(name string) Type
	// Tensor returns a tensor attribute, nil when the node does not have it.
	Tensor(name string) *Tensor
	// Attributes returns the node's attributes that are numbers, texts and lists of
	// them, all of them: another stops the Try.
	Attributes() []Attribute
	// GraphRank returns the rank that a graph attribute declares for its input i, 0 where
	// it declares none.
	GraphRank(name string, i int) int
	// Graph builds a nested block from a graph attribute: params are the types
	// of its parameters, in order; their names come from the graph.
	Graph(name string, params []Type) *Block
	// Warn tells the user something about the node, once for all nodes of the operator.
	Warn(text string)
}

// Attribute is a named number, text or list of these: an i64, f32 or string tensor of
// rank 0 or 1.
type Attribute struct {
	Name  string
	Value *Tensor
}

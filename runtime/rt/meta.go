package rt

// Meta describes a model: what it was generated from, what goes in and what
// comes out.
type Meta struct {
	Name     string            // of the model
	Source   string            // the file it was generated from, without folder
	Opsets   []Opset           // the operator sets it was written in
	Inputs   []Port            // in the order of Forward's parameters
	Outputs  []Port            // in the order of Forward's results
	States   []Port            // what a session keeps from one call to the next
	Metadata map[string]string // as the model's file holds it; nil if it holds none
}

// Opset is a version of an operator set. Domain "" is ONNX's own.
type Opset struct {
	Domain  string
	Version int
}

// Port is one input or output. An element of Shape is a number, a symbol such as
// "N", or an expression of symbols such as "2*S+1".
type Port struct {
	Name  string
	DType string // as [DTypeOf] spells it
	Shape []string
}

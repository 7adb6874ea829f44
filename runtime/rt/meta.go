package rt

// Meta describes a model: its source, inputs and outputs.
type Meta struct {
	Name     string            // name of the model
	Source   string            // name of the file it was generated from, without folder
	Opsets   []Opset           // operator sets that the model uses
	Inputs   []Port            // in the order of Forward's parameters
	Outputs  []Port            // in the order of Forward's results
	States   []Port            // tensors that a session keeps from one call to the next
	Metadata map[string]string // metadata of the model's file; may be nil
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
	DType string // in the spelling of [DTypeOf]
	Shape []string
}

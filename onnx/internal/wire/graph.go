package wire

// Graph contains nodes in the order of the file, the constants that they read, and the inputs and
// outputs.
type Graph struct {
	Name               string
	Doc                string
	Nodes              []Node
	Inputs, Outputs    []ValueInfo
	Values             []ValueInfo // types of intermediate values
	Initializers       []Tensor
	SparseInitializers []SparseTensor
	Quantization       []Annotation
	Metadata           []Entry
}

// Node is a call of an operator or a function. An empty name in Inputs or Outputs stands for an
// input or output that is omitted.
type Node struct {
	Name             string
	OpType           string
	Domain, Overload string
	Doc              string
	Inputs, Outputs  []string
	Attrs            []Attr
	Metadata         []Entry
}

// Annotation names the tensors that hold the scale and zero point of a tensor.
type Annotation struct {
	Tensor     string
	Parameters []Entry
}

var graphFields = table[Graph]{
	1:  many("node", func(g *Graph) *[]Node { return &g.Nodes }).within(nodes),
	2:  str("name", func(g *Graph) *string { return &g.Name }),
	5:  many("initializer", func(g *Graph) *[]Tensor { return &g.Initializers }),
	10: raw("doc_string", func(g *Graph) *string { return &g.Doc }),
	11: many("input", func(g *Graph) *[]ValueInfo { return &g.Inputs }),
	12: many("output", func(g *Graph) *[]ValueInfo { return &g.Outputs }),
	13: many("value_info", func(g *Graph) *[]ValueInfo { return &g.Values }),
	14: many("quantization_annotation", func(g *Graph) *[]Annotation { return &g.Quantization }),
	15: many("sparse_initializer", func(g *Graph) *[]SparseTensor { return &g.SparseInitializers }),
	16: many("metadata_props", func(g *Graph) *[]Entry { return &g.Metadata }),
}

var nodeFields = table[Node]{
	1: strs("input", func(n *Node) *[]string { return &n.Inputs }),
	2: strs("output", func(n *Node) *[]string { return &n.Outputs }),
	3: str("name", func(n *Node) *string { return &n.Name }),
	4: str("op_type", func(n *Node) *string { return &n.OpType }),
	5: many("attribute", func(n *Node) *[]Attr { return &n.Attrs }).within(attributes),
	6: raw("doc_string", func(n *Node) *string { return &n.Doc }),
	7: str("domain", func(n *Node) *string { return &n.Domain }),
	8: str("overload", func(n *Node) *string { return &n.Overload }),
	9: many("metadata_props", func(n *Node) *[]Entry { return &n.Metadata }),
}

var annotationFields = table[Annotation]{
	1: str("tensor_name", func(a *Annotation) *string { return &a.Tensor }),
	2: many("quant_parameter_tensor_names", func(a *Annotation) *[]Entry { return &a.Parameters }),
}

func (g *Graph) merge(r *reader, b []byte) error {
	return r.nested(func() error { return merge(r, graphFields, g, b) })
}

func (n *Node) merge(r *reader, b []byte) error       { return merge(r, nodeFields, n, b) }
func (a *Annotation) merge(r *reader, b []byte) error { return merge(r, annotationFields, a, b) }

package wire

// Model is the content of an ONNX file.
type Model struct {
	IRVersion       int64
	Producer        string
	ProducerVersion string
	Domain          string
	Version         int64
	Doc             string
	Opsets          []Opset // as written: domains may repeat or be missing
	Graph           *Graph  // not nil in results of ReadModel
	Functions       []Function
	Training        []Training
	Metadata        []Entry
}

// Opset is the version of an operator set; the empty domain is ai.onnx.
type Opset struct {
	Domain  string
	Version int64
}

// Entry is a pair of strings. Keys may repeat.
type Entry struct{ Key, Value string }

// Function is a subgraph called like an operator. Domain, Name and Overload identify it.
type Function struct {
	Name, Domain, Overload string
	Doc                    string
	Inputs, Outputs        []string
	Required               []string // attributes without a default
	Defaults               []Attr   // attributes with a default
	Nodes                  []Node
	Values                 []ValueInfo
	Opsets                 []Opset
	Metadata               []Entry
}

// Training is a pair of graphs that initialise and update the model's initializers. The bindings of
// a graph assign its outputs to initializers. In an Entry of a binding, the key is the name of an
// initializer and the value is the name of an output.
type Training struct {
	Init         *Graph
	Step         *Graph
	InitBindings []Entry
	StepBindings []Entry
}

var modelFields = table[Model]{
	1:  num("ir_version", func(m *Model) *int64 { return &m.IRVersion }),
	2:  str("producer_name", func(m *Model) *string { return &m.Producer }),
	3:  str("producer_version", func(m *Model) *string { return &m.ProducerVersion }),
	4:  str("domain", func(m *Model) *string { return &m.Domain }),
	5:  num("model_version", func(m *Model) *int64 { return &m.Version }),
	6:  raw("doc_string", func(m *Model) *string { return &m.Doc }),
	7:  one("graph", func(m *Model) **Graph { return &m.Graph }),
	8:  many("opset_import", func(m *Model) *[]Opset { return &m.Opsets }),
	14: many("metadata_props", func(m *Model) *[]Entry { return &m.Metadata }),
	20: many("training_info", func(m *Model) *[]Training { return &m.Training }),
	25: many("functions", func(m *Model) *[]Function { return &m.Functions }).within(functions),
}

var opsetFields = table[Opset]{
	1: str("domain", func(o *Opset) *string { return &o.Domain }),
	2: num("version", func(o *Opset) *int64 { return &o.Version }),
}

var entryFields = table[Entry]{
	1: str("key", func(e *Entry) *string { return &e.Key }),
	2: str("value", func(e *Entry) *string { return &e.Value }),
}

var functionFields = table[Function]{
	1:  str("name", func(f *Function) *string { return &f.Name }),
	4:  strs("input", func(f *Function) *[]string { return &f.Inputs }),
	5:  strs("output", func(f *Function) *[]string { return &f.Outputs }),
	6:  strs("attribute", func(f *Function) *[]string { return &f.Required }),
	7:  many("node", func(f *Function) *[]Node { return &f.Nodes }).within(nodes),
	8:  raw("doc_string", func(f *Function) *string { return &f.Doc }),
	9:  many("opset_import", func(f *Function) *[]Opset { return &f.Opsets }),
	10: str("domain", func(f *Function) *string { return &f.Domain }),
	11: many("attribute_proto", func(f *Function) *[]Attr { return &f.Defaults }).within(attributes),
	12: many("value_info", func(f *Function) *[]ValueInfo { return &f.Values }),
	13: str("overload", func(f *Function) *string { return &f.Overload }),
	14: many("metadata_props", func(f *Function) *[]Entry { return &f.Metadata }),
}

var trainingFields = table[Training]{
	1: one("initialization", func(t *Training) **Graph { return &t.Init }),
	2: one("algorithm", func(t *Training) **Graph { return &t.Step }),
	3: many("initialization_binding", func(t *Training) *[]Entry { return &t.InitBindings }),
	4: many("update_binding", func(t *Training) *[]Entry { return &t.StepBindings }),
}

func (m *Model) merge(r *reader, b []byte) error    { return merge(r, modelFields, m, b) }
func (o *Opset) merge(r *reader, b []byte) error    { return merge(r, opsetFields, o, b) }
func (e *Entry) merge(r *reader, b []byte) error    { return merge(r, entryFields, e, b) }
func (f *Function) merge(r *reader, b []byte) error { return merge(r, functionFields, f, b) }
func (t *Training) merge(r *reader, b []byte) error { return merge(r, trainingFields, t, b) }

package wire

// ValueKind is the kind of the values in a sequence or optional, with the numbers of the schema.
type ValueKind int32

// The kinds of values in test data.
const (
	ValueUndefined ValueKind = iota
	ValueTensor
	ValueSparseTensor
	ValueSequence
	ValueMap
	ValueOptional
)

// Sequence is a list of values of one kind.
type Sequence struct {
	Name      string
	Kind      ValueKind
	Tensors   []Tensor
	Sparses   []SparseTensor
	Sequences []Sequence
	Maps      []Map
	Optionals []Optional
}

// Map is a map as parallel lists: Values has the value of each key. Keys are in Keys if they are
// integers, and in StringKeys if they are strings. A valid Map has as many values as keys.
type Map struct {
	Name       string
	Key        DataType
	Keys       []int64
	StringKeys []string // any bytes
	Values     *Sequence
}

// Optional is a value, or empty.
type Optional struct {
	Name     string
	Kind     ValueKind
	Tensor   *Tensor
	Sparse   *SparseTensor
	Sequence *Sequence
	Map      *Map
	Optional *Optional
}

var sequenceFields = table[Sequence]{
	1: str("name", func(s *Sequence) *string { return &s.Name }),
	2: num("elem_type", func(s *Sequence) *ValueKind { return &s.Kind }),
	3: many("tensor_values", func(s *Sequence) *[]Tensor { return &s.Tensors }),
	4: many("sparse_tensor_values", func(s *Sequence) *[]SparseTensor { return &s.Sparses }),
	5: many("sequence_values", func(s *Sequence) *[]Sequence { return &s.Sequences }),
	6: many("map_values", func(s *Sequence) *[]Map { return &s.Maps }),
	7: many("optional_values", func(s *Sequence) *[]Optional { return &s.Optionals }),
}

var mapFields = table[Map]{
	1: str("name", func(m *Map) *string { return &m.Name }),
	2: num("key_type", func(m *Map) *DataType { return &m.Key }),
	3: nums("keys", func(m *Map) *[]int64 { return &m.Keys }),
	4: raws("string_keys", func(m *Map) *[]string { return &m.StringKeys }),
	5: one("values", func(m *Map) **Sequence { return &m.Values }),
}

var optionalFields = table[Optional]{
	1: str("name", func(o *Optional) *string { return &o.Name }),
	2: num("elem_type", func(o *Optional) *ValueKind { return &o.Kind }),
	3: one("tensor_value", func(o *Optional) **Tensor { return &o.Tensor }),
	4: one("sparse_tensor_value", func(o *Optional) **SparseTensor { return &o.Sparse }),
	5: one("sequence_value", func(o *Optional) **Sequence { return &o.Sequence }),
	6: one("map_value", func(o *Optional) **Map { return &o.Map }),
	7: one("optional_value", func(o *Optional) **Optional { return &o.Optional }),
}

func (s *Sequence) merge(r *reader, b []byte) error {
	return r.nested(func() error { return merge(r, sequenceFields, s, b) })
}

func (m *Map) merge(r *reader, b []byte) error { return merge(r, mapFields, m, b) }

func (o *Optional) merge(r *reader, b []byte) error {
	return r.nested(func() error { return merge(r, optionalFields, o, b) })
}

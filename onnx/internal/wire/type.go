package wire

// ValueInfo is the name and type of a value.
type ValueInfo struct {
	Name     string
	Type     *Type // nil if not written
	Doc      string
	Metadata []Entry
}

// TypeKind is the kind of a type: it names the field of the protocol buffer that is set.
type TypeKind uint8

// The kinds of types. NoType is a type without a kind.
const (
	NoType TypeKind = iota
	TensorType
	SparseTensorType
	SequenceType
	OptionalType
	MapType
	OpaqueType
)

// Type is the type of a value.
type Type struct {
	Kind       TypeKind
	Denotation string

	Elem   DataType // element type of a tensor
	Ranked bool     // a tensor's shape is given, possibly that of a scalar
	Shape  []Dim

	Key DataType // key type of a map
	Of  *Type    // element type of a sequence, optional or map; nil if not written

	Domain, Name string // names of an opaque type
}

// DimKind is the kind of a dimension.
type DimKind uint8

// The kinds of dimensions: a number, a symbol, or neither.
const (
	DimUnknown DimKind = iota
	DimValue
	DimParam
)

// Dim is one dimension of a shape.
type Dim struct {
	Kind       DimKind
	Value      int64  // DimValue; any number
	Param      string // DimParam; any text, also empty
	Denotation string
}

var valueInfoFields = table[ValueInfo]{
	1: str("name", func(v *ValueInfo) *string { return &v.Name }),
	2: one("type", func(v *ValueInfo) **Type { return &v.Type }),
	3: raw("doc_string", func(v *ValueInfo) *string { return &v.Doc }),
	4: many("metadata_props", func(v *ValueInfo) *[]Entry { return &v.Metadata }),
}

var typeFields = table[Type]{
	1: nest("tensor_type", is(TensorType), &tensorTypeFields),
	4: nest("sequence_type", is(SequenceType), &elemTypeFields),
	5: nest("map_type", is(MapType), &mapTypeFields),
	6: str("denotation", func(t *Type) *string { return &t.Denotation }),
	7: nest("opaque_type", is(OpaqueType), &opaqueTypeFields),
	8: nest("sparse_tensor_type", is(SparseTensorType), &tensorTypeFields),
	9: nest("optional_type", is(OptionalType), &elemTypeFields),
}

// is returns a function that sets the kind of a type. If the type has another kind, the function
// first clears all of it except its denotation.
func is(kind TypeKind) func(*Type) {
	return func(t *Type) {
		if t.Kind != kind {
			*t = Type{Kind: kind, Denotation: t.Denotation}
		}
	}
}

var tensorTypeFields = table[Type]{
	1: num("elem_type", func(t *Type) *DataType { return &t.Elem }),
	2: nest("shape", func(t *Type) { t.Ranked = true }, &shapeFields),
}

var shapeFields = table[Type]{
	1: many("dim", func(t *Type) *[]Dim { return &t.Shape }),
}

var elemTypeFields = table[Type]{
	1: one("elem_type", func(t *Type) **Type { return &t.Of }),
}

var mapTypeFields = table[Type]{
	1: num("key_type", func(t *Type) *DataType { return &t.Key }),
	2: one("value_type", func(t *Type) **Type { return &t.Of }),
}

var opaqueTypeFields = table[Type]{
	1: str("domain", func(t *Type) *string { return &t.Domain }),
	2: str("name", func(t *Type) *string { return &t.Name }),
}

var dimFields = table[Dim]{
	1: num("dim_value", func(d *Dim) *int64 { d.Kind, d.Param = DimValue, ""; return &d.Value }),
	2: str("dim_param", func(d *Dim) *string { d.Kind, d.Value = DimParam, 0; return &d.Param }),
	3: str("denotation", func(d *Dim) *string { return &d.Denotation }),
}

func (v *ValueInfo) merge(r *reader, b []byte) error { return merge(r, valueInfoFields, v, b) }
func (d *Dim) merge(r *reader, b []byte) error       { return merge(r, dimFields, d, b) }

func (t *Type) merge(r *reader, b []byte) error {
	return r.nested(func() error { return merge(r, typeFields, t, b) })
}

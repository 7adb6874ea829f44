package ir

// Call is one call of a kernel: its name in the target's package and its
// arguments in the kernel's order. An argument is an [Out], [In], [InScalar], [Scratch],
// [Dim], []Dim, [Context], [Number], [Struct], [Chain], bool, int, []int, float32, float64,
// string, nil, or an []any of arguments.
type Call struct {
	Kernel string
	Args   []any
}

// Out stands for the memory of a result of the node.
type Out int

// In stands for the memory of an operand of the node; an absent one is nil.
type In int

// InScalar stands for the first element of an operand, passed by value.
type InScalar int

// Scratch stands for memory that the call alone uses.
type Scratch struct {
	DType DType
	Len   Dim
}

// Context stands for the context of the call of the model, for a kernel that may take long.
type Context struct{}

// Number is a constant of an element type: a kernel's scalar operand.
type Number struct {
	DType DType
	Float float64 // of a float type
	Int   int64   // of any other
}

// Bits returns the encoding of a number of a float type.
func (n Number) Bits() uint64 {
	var bits uint64
	for i, b := range Scalar(n.DType, n.Float).Bytes() {
		bits |= uint64(b) << (8 * i)
	}
	return bits
}

// Struct is a pointer to a composite value of the kernels' package.
type Struct struct {
	Type   string
	Fields []Field
}

// Field is a named part of a [Struct].
type Field struct {
	Name  string
	Value any
}

// Chain stands for a function made of a fused region of n: the region's first
// parameter and its result are the kernel's tile, further parameters are the
// kernel's further operands.
type Chain struct{ Region *Block }

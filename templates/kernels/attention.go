package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// HeadRows say where the queries, the keys or the values of an attention are. They are elements of Value, which has
// the extents Outer × Rows × Columns in row-major order. Element c of row i of head h of batch element b is at the
// outer index b·BatchOuter + h·HeadOuter, in row Row + i and column Column + h·HeadColumns + c.
type HeadRows struct {
	Value                    *ir.Value
	Outer, Rows, Columns     int
	BatchOuter, HeadOuter    int
	Row, Column, HeadColumns int
}

// Attention describes an attention with constant extents. For each query of a head it computes the sum of the values,
// weighted by softmax(Scale · query · key) over the keys that the query attends to. The result is 0 if a query does
// not attend to any key.
type Attention struct {
	Batch, Heads, Queries, Keys int
	// KeyHeads is the number of heads of keys and values. It divides Heads.
	KeyHeads int
	// Width is the number of elements of a query, a key and a value, a multiple of 8 up to 128. Unless Width is 64 or 128,
	// it divides Columns, Column and HeadColumns of Q, K and V.
	Width int
	// Matrix is the type of the queries, keys and values, f16 or bf16. Weights are rounded to it.
	Matrix  ir.DType
	Q, K, V HeadRows
	Scale   float64
	// Query i is at position p = Past + i, and attends to the keys from p − Before to p + After. A negative Before or
	// After means all keys on that side.
	Past, Before, After int
	// Score returns what the softmax reads in place of `score`, an f32. It excludes a key by returning −∞. A nil Score
	// does not change scores.
	Score func(e *Emitter, at Attending, score *kernel.Value) *kernel.Value
	// Sink returns the score of an additional key of a head. The value of this key is 0. Sink is nil if there is no
	// such key.
	Sink func(e *Emitter, at Attending) *kernel.Value
	// Store stores an element of the result, an f32.
	Store func(e *Emitter, at Attending, column, x *kernel.Value)
	// StoreSum stores two numbers of a query for the backward pass: its greatest score, and total, the sum of
	// exp(score − top) over its keys and the sink. Without keys, total is 0. A nil StoreSum stores nothing.
	StoreSum func(e *Emitter, at Attending, top, total *kernel.Value)
}

// Attending identifies a query and a key of an attention: a batch element, a head, and the positions of the query and
// the key. Group is the index of the head of keys and values, which several heads of queries may share. Query or Key
// is nil where it does not matter.
type Attending struct{ Batch, Head, Group, Query, Key *kernel.Value }

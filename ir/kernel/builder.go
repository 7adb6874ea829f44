package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Builder builds a kernel instruction by instruction. It evaluates constant expressions, removes operations without
// effect such as x + 0, and computes equal expressions only once. A mistake, such as operands of different types,
// stops the builder. [Build] returns the mistake as an error.
type Builder struct {
	k     *Kernel
	scope *scope
}

// scope is a block that is being filled. It also holds the values of the pure expressions that the block has
// computed so far.
type scope struct {
	block *Block
	known map[expression]*Value
	outer *scope
}

// expression identifies what an instruction without effects and with one result computes. Two instructions with
// equal expressions compute equal values.
type expression struct {
	op   Op
	typ  ir.DType
	a    [3]*Value
	bits uint64
	dim  int
}

// mistake is an error in the use of a builder. The builder panics with it.
type mistake struct{ error }

// Build returns the kernel that the function `fill` builds. block is the number of threads of a block in each
// dimension; a missing dimension is 1. Build returns an error if the function `fill` makes a mistake, or if
// [Kernel.Verify] refuses the kernel.
func Build(name string, block []int, fill func(b *Builder)) (*Kernel, error) {
	k := &Kernel{Name: name, Block: [3]int{1, 1, 1}, Body: &Block{}}
	copy(k.Block[:], block)
	b := &Builder{k: k}
	b.scope = &scope{block: k.Body, known: map[expression]*Value{}}
	if err := b.fill(fill); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	k.Body.prune(map[*Value]bool{})
	k.join()
	k.Body.prune(map[*Value]bool{})
	k.name()
	if err := k.Verify(); err != nil {
		return nil, err
	}
	return k, nil
}

func (b *Builder) fill(fill func(b *Builder)) (err error) {
	defer catch(&err)
	fill(b)
	return nil
}

// Fail stops the builder. [Build] returns the formatted error.
func (b *Builder) Fail(format string, args ...any) { fail(format, args...) }

// fail panics with an error. The panic stops a builder, a parser or a check; [catch] recovers from it.
func fail(format string, args ...any) { panic(mistake{fmt.Errorf(format, args...)}) }

// Current returns the block to which the builder adds instructions.
func (b *Builder) Current() *Block { return b.scope.block }

// Doc sets the line that says what the kernel computes.
func (b *Builder) Doc(format string, args ...any) { b.k.Doc = fmt.Sprintf(format, args...) }

// Name sets the name of the kernel.
func (b *Builder) Name(name string) { b.k.Name = name }

// Early makes the kernel early, see [Kernel.Early].
func (b *Builder) Early() { b.k.Early = true }

// BlockSize returns the number of threads that a block has in dimension dim.
func (b *Builder) BlockSize(dim int) int { return b.k.Block[dim] }

// Pointer adds a parameter to the kernel: a pointer to elements of type d in global memory.
func (b *Builder) Pointer(name string, d ir.DType) *Value {
	v := &Value{Name: name, Type: Type{d, Global}}
	b.k.Params = append(b.k.Params, v)
	return v
}

// Scalar adds a parameter to the kernel: a number of type i32, u32, i64, u64, f32 or f64.
func (b *Builder) Scalar(name string, d ir.DType) *Value {
	v := &Value{Name: name, Type: Type{DType: d}}
	b.k.Params = append(b.k.Params, v)
	return v
}

// Shared adds an array of n elements of type d in shared memory to the kernel.
func (b *Builder) Shared(name string, d ir.DType, n int) *Value {
	v := &Value{Name: name, Type: Type{d, Shared}, Len: n}
	b.k.Shared = append(b.k.Shared, v)
	return v
}

// Int returns the constant n of type i32. n must fit this type.
func (b *Builder) Int(n int) *Value {
	if n != int(int32(n)) {
		fail("%d as an i32", n)
	}
	return b.Whole(ir.I32, int64(n))
}

// Whole returns n as a constant of type d, an integer type or bool. n wraps to the type.
func (b *Builder) Whole(d ir.DType, n int64) *Value {
	if !d.IsInt() && d != ir.Bool {
		fail("an integer constant of %s", d)
	}
	return b.bits(d, mask(uint64(n), d))
}

// Float returns x as a constant of type d, which is f32 or f64. x is rounded to d.
func (b *Builder) Float(d ir.DType, x float64) *Value {
	if classOf(d) != floats {
		fail("a float constant of %s", d)
	}
	return b.bits(d, floatBits(d, x))
}

// Number returns x as a constant of type d. d is an integer type, f32 or f64. An integer type truncates x, and a
// float type rounds it.
func (b *Builder) Number(d ir.DType, x float64) *Value {
	if d.IsFloat() {
		return b.Float(d, x)
	}
	return b.Whole(d, int64(x))
}

// Bool returns a constant of type bool.
func (b *Builder) Bool(x bool) *Value {
	if x {
		return b.bits(ir.Bool, 1)
	}
	return b.bits(ir.Bool, 0)
}

func (b *Builder) bits(d ir.DType, bits uint64) *Value {
	return b.pure(&Instr{Op: Const, Bits: bits}, d)
}

func floatBits(d ir.DType, x float64) uint64 {
	if d == ir.F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func floatOf(d ir.DType, bits uint64) float64 {
	if d == ir.F32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// mask clears the bits of n above the width of type d. The width of a bool is 1.
func mask(n uint64, d ir.DType) uint64 {
	switch {
	case d == ir.Bool:
		return n & 1
	case d.Bits() < 64:
		return n & (1<<d.Bits() - 1)
	}
	return n
}

// wholeOf returns the integer of type d with the given bits, as an int64. A u64 of 2⁶³ or more becomes negative.
func wholeOf(d ir.DType, bits uint64) int64 {
	if d.Class() == ir.Signed && d.Bits() < 64 {
		shift := 64 - d.Bits()
		return int64(bits<<shift) >> shift
	}
	return int64(bits)
}

// Thread returns the index of the thread in its block, in dimension dim.
func (b *Builder) Thread(dim int) *Value {
	if b.k.Block[dim] == 1 {
		return b.Int(0)
	}
	return b.pure(&Instr{Op: ThreadIdx, Dim: dim}, ir.I32)
}

// BlockIdx returns the index of the block in the grid, in dimension dim.
func (b *Builder) BlockIdx(dim int) *Value { return b.pure(&Instr{Op: BlockIdx, Dim: dim}, ir.I32) }

// Global returns the index of the thread in the whole grid, in dimension dim.
func (b *Builder) Global(dim int) *Value {
	return b.Add(b.Mul(b.BlockIdx(dim), b.Int(b.k.Block[dim])), b.Thread(dim))
}

// Binary returns the result of an operation on two operands of one type.
func (b *Builder) Binary(o Op, x, y *Value) *Value {
	d := x.Type.DType
	if x.Type != y.Type || x.Type.Space != NoSpace {
		fail("%s of %s and %s", o, x.Type, y.Type)
	}
	if o >= numOps || ops[o].kind != binary && ops[o].kind != comparison || ops[o].on&classOf(d) == 0 {
		fail("%s of %s", o, x.Type)
	}
	if v := b.simplify(o, x, y); v != nil {
		return v
	}
	if ops[o].kind == comparison {
		return b.pure(&Instr{Op: o, Args: []*Value{x, y}}, ir.Bool)
	}
	return b.pure(&Instr{Op: o, Args: []*Value{x, y}}, d)
}

// Unary returns the result of an operation on one operand.
func (b *Builder) Unary(o Op, x *Value) *Value {
	if o >= numOps || x.Type.Space != NoSpace || ops[o].kind != unary || ops[o].on&classOf(x.Type.DType) == 0 {
		fail("%s of %s", o, x.Type)
	}
	if bits, ok := x.Const(); ok {
		if v, ok := foldUnary(o, x.Type.DType, bits); ok {
			return b.bits(x.Type.DType, v)
		}
	}
	return b.pure(&Instr{Op: o, Args: []*Value{x}}, x.Type.DType)
}

// Add returns x + y.
func (b *Builder) Add(x, y *Value) *Value { return b.Binary(Add, x, y) }

// Sub returns x − y.
func (b *Builder) Sub(x, y *Value) *Value { return b.Binary(Sub, x, y) }

// Mul returns x · y.
func (b *Builder) Mul(x, y *Value) *Value { return b.Binary(Mul, x, y) }

// Div returns x / y, see [Div].
func (b *Builder) Div(x, y *Value) *Value { return b.Binary(Div, x, y) }

// Rem returns the remainder of x / y, see [Rem].
func (b *Builder) Rem(x, y *Value) *Value { return b.Binary(Rem, x, y) }

// Min returns the smaller of x and y, see [Min].
func (b *Builder) Min(x, y *Value) *Value { return b.Binary(Min, x, y) }

// Max returns the larger of x and y, see [Max].
func (b *Builder) Max(x, y *Value) *Value { return b.Binary(Max, x, y) }

// And returns x & y, the bitwise and.
func (b *Builder) And(x, y *Value) *Value { return b.Binary(And, x, y) }

// Or returns x | y, the bitwise or.
func (b *Builder) Or(x, y *Value) *Value { return b.Binary(Or, x, y) }

// Neg returns −x.
func (b *Builder) Neg(x *Value) *Value { return b.Unary(Neg, x) }

// Abs returns |x|.
func (b *Builder) Abs(x *Value) *Value { return b.Unary(Abs, x) }

// Not returns ^x, the bitwise complement.
func (b *Builder) Not(x *Value) *Value { return b.Unary(Not, x) }

// Eq reports whether x = y.
func (b *Builder) Eq(x, y *Value) *Value { return b.Binary(Eq, x, y) }

// Ne reports whether x ≠ y.
func (b *Builder) Ne(x, y *Value) *Value { return b.Binary(Ne, x, y) }

// Lt reports whether x < y.
func (b *Builder) Lt(x, y *Value) *Value { return b.Binary(Lt, x, y) }

// Le reports whether x ≤ y.
func (b *Builder) Le(x, y *Value) *Value { return b.Binary(Le, x, y) }

// Gt reports whether x > y.
func (b *Builder) Gt(x, y *Value) *Value { return b.Binary(Gt, x, y) }

// Ge reports whether x ≥ y.
func (b *Builder) Ge(x, y *Value) *Value { return b.Binary(Ge, x, y) }

// Fma returns x·y + z for floats. It is not defined whether the product is rounded before the addition.
func (b *Builder) Fma(x, y, z *Value) *Value {
	if x.Type != y.Type || x.Type != z.Type || classOf(x.Type.DType) != floats {
		fail("fma of %s, %s and %s", x.Type, y.Type, z.Type)
	}
	return b.pure(&Instr{Op: Fma, Args: []*Value{x, y, z}}, x.Type.DType)
}

// Select returns x if cond is true, else y.
func (b *Builder) Select(cond, x, y *Value) *Value {
	if cond.Type != (Type{DType: ir.Bool}) || x.Type != y.Type || x.Type.Space != NoSpace {
		fail("select of %s, %s and %s", cond.Type, x.Type, y.Type)
	}
	if bits, ok := cond.Const(); ok {
		if bits != 0 {
			return x
		}
		return y
	}
	if x == y {
		return x
	}
	return b.pure(&Instr{Op: Select, Args: []*Value{cond, x, y}}, x.Type.DType)
}

// Convert returns x, converted to type d as the operation [Convert] does it.
func (b *Builder) Convert(d ir.DType, x *Value) *Value {
	from := x.Type.DType
	if x.Type.Space != NoSpace || !IsArithmetic(d) && !IsStorage(d) {
		fail("convert of %s to %s", x.Type, d)
	}
	if from == d {
		return x
	}
	if bits, ok := x.Const(); ok && IsArithmetic(from) && IsArithmetic(d) {
		return b.bits(d, convertBits(d, from, bits))
	}
	return b.pure(&Instr{Op: Convert, Args: []*Value{x}}, d)
}

// Bitcast returns the bits of x as a value of type d, which has the same width.
func (b *Builder) Bitcast(d ir.DType, x *Value) *Value {
	from := x.Type.DType
	if x.Type.Space != NoSpace || from.Bits() != d.Bits() || d == ir.Bool || from == ir.Bool {
		fail("bitcast of %s to %s", x.Type, d)
	}
	if from == d {
		return x
	}
	if bits, ok := x.Const(); ok {
		return b.bits(d, bits)
	}
	return b.pure(&Instr{Op: Bitcast, Args: []*Value{x}}, d)
}

// Split returns the low and the high half of x, a value of 64 bits, as two u32.
func (b *Builder) Split(x *Value) (low, high *Value) {
	if x.Type.Space != NoSpace || x.Type.DType.Bits() != 64 {
		fail("split of %s", x.Type)
	}
	if bits, ok := x.Const(); ok {
		return b.bits(ir.U32, bits&math.MaxUint32), b.bits(ir.U32, bits>>32)
	}
	in := &Instr{Op: Split, Args: []*Value{x}}
	in.Results = []*Value{{Type: Type{DType: ir.U32}, Def: in}, {Type: Type{DType: ir.U32}, Def: in}}
	b.add(in)
	return in.Results[0], in.Results[1]
}

// Join returns a u32 with the bits of x as its low half and the bits of y as its high half. x and y have one type
// of 16 bits.
func (b *Builder) Join(x, y *Value) *Value {
	if x.Type != y.Type || x.Type.Space != NoSpace || x.Type.DType.Bits() != 16 {
		fail("join of %s and %s", x.Type, y.Type)
	}
	return b.pure(&Instr{Op: Join, Args: []*Value{x, y}}, ir.U32)
}

// Exp2 returns about 2^x, see [Exp2].
func (b *Builder) Exp2(x *Value) *Value { return b.fast(Exp2, x) }

// Greater returns the greater of x and y, see [Greater].
func (b *Builder) Greater(x, y *Value) *Value { return b.fast(Greater, x, y) }

func (b *Builder) fast(o Op, args ...*Value) *Value {
	for _, x := range args {
		if x.Type != (Type{DType: ir.F32}) {
			fail("%s of %s", o, x.Type)
		}
	}
	return b.pure(&Instr{Op: o, Args: args}, ir.F32)
}

// Load returns element i of the array p.
func (b *Builder) Load(p, i *Value) *Value { return b.LoadN(p, i, 1)[0] }

// LoadN returns elements [i, i+n) of the array p, see [Load].
func (b *Builder) LoadN(p, i *Value, n int) []*Value {
	b.address("load", p, i, n)
	in := &Instr{Op: Load, Args: []*Value{p, i}}
	for range n {
		in.Results = append(in.Results, &Value{Type: Type{DType: p.Type.DType}, Def: in})
	}
	b.add(in)
	return slices.Clone(in.Results)
}

// Store stores values in adjacent elements of the array p, from index i on; see the operation [Store].
func (b *Builder) Store(p, i *Value, values ...*Value) {
	b.address("store", p, i, len(values))
	for _, v := range values {
		if v.Type != (Type{DType: p.Type.DType}) {
			fail("store of %s to %s", v.Type, p.Type)
		}
	}
	p.Written = true
	b.add(&Instr{Op: Store, Args: append([]*Value{p, i}, values...)})
}

// Atomic does the atomic operation o on element i of the array p. It returns the element's value before the
// operation. values are the other operands. For [AtomicCAS] there are two, the number to compare with and the new
// number. Other operations have one.
func (b *Builder) Atomic(o Op, p, i *Value, values ...*Value) *Value {
	b.address(o.String(), p, i, 1)
	want := 1
	if o == AtomicCAS {
		want = 2
	}
	if o >= numOps || ops[o].kind != atomic || len(values) != want || classOf(p.Type.DType) != ints {
		fail("%s on %s with %d operands", o, p.Type, len(values))
	}
	for _, v := range values {
		if v.Type != (Type{DType: p.Type.DType}) {
			fail("%s of %s on %s", o, v.Type, p.Type)
		}
	}
	p.Written = true
	in := &Instr{Op: o, Args: append([]*Value{p, i}, values...)}
	r := &Value{Type: Type{DType: p.Type.DType}, Def: in}
	in.Results = []*Value{r}
	b.add(in)
	return r
}

// address stops the builder, as [fail] does, unless a kernel can access elements [i, i+n) of p: p must be a pointer,
// and i an i32 or i64. [Load] says which n are allowed for each element type. label names the access in the error.
func (b *Builder) address(label string, p, i *Value, n int) {
	d := i.Type.DType
	if p.Type.Space != Global && p.Type.Space != Shared || i.Type.Space != NoSpace || d != ir.I32 && d != ir.I64 {
		fail("%s at %s of %s", label, i.Type, p.Type)
	}
	if n < 1 || n > 16 || n&(n-1) != 0 || n > 1 && n*p.Type.DType.Size() > 16 {
		fail("%s of %d adjacent elements of %s", label, n, p.Type.DType)
	}
}

// Barrier makes each thread wait until all threads of its block have reached it.
func (b *Builder) Barrier() { b.add(&Instr{Op: Barrier}) }

// For appends a loop. Its counter i runs from lo up to but not including hi, in steps of `step`. All of them are
// i32. The function `body` gets i and the carried values, and returns the carried values for the next iteration.
// For returns the carried values after the last iteration, or the initial ones if there is no iteration.
func (b *Builder) For(lo, hi, step *Value, carried []*Value, body func(i *Value, carried []*Value) []*Value) []*Value {
	return b.ForUnrolled(0, lo, hi, step, carried, body)
}

// ForUnrolled is [Builder.For] with a hint: targets write out `unroll` iterations of the loop one after the other.
func (b *Builder) ForUnrolled(unroll int, lo, hi, step *Value, carried []*Value, body func(i *Value, carried []*Value) []*Value) []*Value {
	for _, v := range []*Value{lo, hi, step} {
		if v.Type != (Type{DType: ir.I32}) {
			fail("for counts with %s", v.Type)
		}
	}
	in := &Instr{Op: For, Args: append([]*Value{lo, hi, step}, carried...), Unroll: unroll}
	params := append([]*Value{{Type: Type{DType: ir.I32}}}, likes(carried, nil)...)
	fill := func() []*Value { return body(params[0], slices.Clone(params[1:])) }
	in.Blocks = []*Block{b.block(params, fill).yielding(in.Args[3:])}
	in.Results = likes(in.Args[3:], in)
	b.add(in)
	return slices.Clone(in.Results)
}

// Times is [Builder.For] with i from 0 to n−1.
func (b *Builder) Times(n *Value, carried []*Value, body func(i *Value, carried []*Value) []*Value) []*Value {
	return b.For(b.Int(0), n, b.Int(1), carried, body)
}

// If appends a branch. onTrue appends the instructions that run if cond is true, and onFalse the instructions that
// run otherwise. Both return values. If returns the values of the branch that ran. onFalse may be nil if onTrue
// returns no values.
func (b *Builder) If(cond *Value, onTrue, onFalse func() []*Value) []*Value {
	if cond.Type != (Type{DType: ir.Bool}) {
		fail("if of %s", cond.Type)
	}
	in := &Instr{Op: If, Args: []*Value{cond}}
	first := b.block(nil, onTrue)
	if onFalse == nil {
		onFalse = func() []*Value { return nil }
	}
	in.Blocks = []*Block{first, b.block(nil, onFalse).yielding(first.Yields)}
	in.Results = likes(first.Yields, in)
	b.add(in)
	return slices.Clone(in.Results)
}

// Do appends a branch without results. onTrue appends the instructions that run if cond is true.
func (b *Builder) Do(cond *Value, onTrue func()) {
	b.If(cond, func() []*Value { onTrue(); return nil }, nil)
}

// While appends a loop. The functions `cond` and `body` get the carried values. The loop runs as long as the result
// of `cond` is true. `body` returns the carried values for the next iteration. While returns the carried values for
// which `cond` is false.
func (b *Builder) While(carried []*Value, cond func(carried []*Value) *Value, body func(carried []*Value) []*Value) []*Value {
	in := &Instr{Op: While, Args: slices.Clone(carried)}
	p, q := likes(carried, nil), likes(carried, nil)
	test := b.block(p, func() []*Value { return []*Value{cond(slices.Clone(p))} })
	again := b.block(q, func() []*Value { return body(slices.Clone(q)) })
	in.Blocks = []*Block{test.yielding([]*Value{{Type: Type{DType: ir.Bool}}}), again.yielding(in.Args)}
	in.Results = likes(in.Args, in)
	b.add(in)
	return slices.Clone(in.Results)
}

func likes(values []*Value, def *Instr) []*Value {
	out := make([]*Value, len(values))
	for i, v := range values {
		out[i] = &Value{Type: v.Type, Def: def}
	}
	return out
}

func (b *Builder) block(params []*Value, fill func() []*Value) *Block {
	inner := &scope{block: &Block{Params: params}, known: map[expression]*Value{}, outer: b.scope}
	b.scope = inner
	inner.block.Yields = slices.Clone(fill())
	b.scope = inner.outer
	return inner.block
}

// yielding returns b. It stops the builder, as [fail] does, unless b yields values of the types of `want`.
func (b *Block) yielding(want []*Value) *Block {
	if len(b.Yields) != len(want) {
		fail("%d values for %d", len(b.Yields), len(want))
	}
	for i, v := range b.Yields {
		if v.Type != want[i].Type {
			fail("value %d is %s, want %s", i, v.Type, want[i].Type)
		}
	}
	return b
}

func (b *Builder) add(in *Instr) { b.scope.block.Instrs = append(b.scope.block.Instrs, in) }

// pure appends an instruction without effects and returns its result, which has type d. If the same or an enclosing
// block already has an equal instruction, pure returns the result of that instruction.
func (b *Builder) pure(in *Instr, d ir.DType) *Value {
	e := expression{op: in.Op, typ: d, bits: in.Bits, dim: in.Dim}
	copy(e.a[:], in.Args)
	for s := b.scope; s != nil; s = s.outer {
		if v := s.known[e]; v != nil {
			return v
		}
	}
	v := &Value{Type: Type{DType: d}, Def: in}
	in.Results = []*Value{v}
	b.scope.known[e] = v
	b.add(in)
	return v
}

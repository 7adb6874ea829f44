package kernel

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Limits of a kernel. Verify refuses a kernel that exceeds them. A device may have lower limits, and so refuse a
// kernel that Verify accepts.
const (
	// MaxThreads is the greatest number of threads of a block.
	MaxThreads = 1024
	// MaxShared is the maximum total size in bytes of the arrays that a kernel has in shared memory. Each array
	// begins at a multiple of 16 bytes.
	MaxShared = 48 << 10
	// MaxPipelined is the maximum for pipelined kernels, instead of MaxShared; see [Kernel.IsPipelined]. Each array
	// begins at a multiple of 1024 bytes.
	MaxPipelined = 226 << 10

	maxNesting = 64
	maxInstrs  = 1 << 20
	maxUnroll  = 1024
)

// Verify checks the rules that hold for every kernel, and returns the first mistake as an error:
//   - Each value has a unique name, is defined before it is used, and is used only in its scope.
//   - Operands and results have the types that [Op] says.
//   - Stores go to memory that is marked as written.
//   - Constants, sizes and nesting are within their limits.
//   - No barrier is in control flow that depends on a thread's index or on memory. So all threads of a block reach
//     the same barriers.
//   - All threads of a group carry out the same operations on sums, and all threads of a warp the same shuffles.
//   - An array that boxes are copied to is read only by [MultiplyTiles] and [MultiplyHeld].
func (k *Kernel) Verify() error {
	if err := k.check(); err != nil {
		return err
	}
	return k.checkBarriers()
}

// check is [Kernel.Verify] without the rule for barriers.
func (k *Kernel) check() (err error) {
	defer k.explain(&err)
	defer catch(&err)
	v := &verifier{names: map[string]bool{}, defined: map[*Value]bool{}, scope: map[*Value]bool{}, blocks: map[*Block]bool{}}
	v.kernel(k)
	return nil
}

func (k *Kernel) explain(err *error) {
	if *err != nil {
		*err = fmt.Errorf("kernel %s: %w", k.Name, *err)
	}
}

// catch is called by a defer statement. It recovers from a panic of [fail], and stores the error of the panic in
// *err.
func catch(err *error) {
	if r := recover(); r != nil {
		m, ok := r.(mistake)
		if !ok {
			panic(r)
		}
		*err = m.error
	}
}

type verifier struct {
	names   map[string]bool
	defined map[*Value]bool
	scope   map[*Value]bool
	blocks  map[*Block]bool
	instrs  int
	depth   int
	threads int // of a block
}

func (v *verifier) kernel(k *Kernel) {
	if !isIdentifier(k.Name) {
		fail("its name is not an identifier")
	}
	for i := range len(k.Doc) {
		if k.Doc[i] < ' ' || k.Doc[i] == 0x7f {
			fail("its doc is not a line")
		}
	}
	threads := 1
	for _, n := range k.Block {
		if n < 1 || n > MaxThreads {
			fail("blocks of %d × %d × %d threads", k.Block[0], k.Block[1], k.Block[2])
		}
		if threads *= n; threads > MaxThreads {
			fail("blocks of %d × %d × %d threads, more than %d", k.Block[0], k.Block[1], k.Block[2], MaxThreads)
		}
	}
	for i, p := range k.Params {
		v.outer(p)
		switch d := p.Type.DType; {
		case p.Type.Space == Global && isElement(d):
		case p.Type.Space == Mapped && !p.Written:
			p.Map.check(d)
			if o := p.Map.Outer; o != nil && (o.Type != Type{DType: ir.I32} || !slices.Contains(k.Params[:i], o)) {
				fail("the first extent of %s is no i32 among the parameters before it", p)
			}
		case p.Type.Space == NoSpace && isNumber(d) && !p.Written:
		default:
			fail("parameter %s is of type %s%s", p, p.Type, written(p))
		}
		if p.Len != 0 {
			fail("parameter %s has a length", p)
		}
		if p.Arrivals != 0 || (p.Map != nil) != (p.Type.Space == Mapped) {
			fail("parameter %s has what belongs to another value", p)
		}
	}
	v.threads = threads
	v.declared(k)
	if k.Body == nil || len(k.Body.Params)+len(k.Body.Yields) > 0 {
		fail("its body takes or yields values")
	}
	v.block(k.Body)
	k.checkBoxed()
}

func (v *verifier) declared(k *Kernel) {
	limit := MaxShared
	if k.IsPipelined() {
		limit = MaxPipelined
	}
	for _, a := range k.Shared {
		v.outer(a)
		switch {
		case a.Type == Type{Space: Phases} && a.Len >= 1 && a.Len <= maxPhases && a.Arrivals >= 1 && a.Arrivals <= MaxThreads && !a.Written:
		case a.Type.Space == Shared && isElement(a.Type.DType) && a.Len >= 1 && a.Len <= limit && a.Arrivals == 0:
		default:
			fail("array %s is of type %s[%d]", a, a.Type, a.Len)
		}
	}
	if _, bytes := k.Layout(); bytes > limit {
		fail("more than %d bytes of shared memory", limit)
	}
	for _, s := range k.Sums {
		v.outer(s)
		if s.Type != (Type{ir.F32, Sums}) || s.Len < 8 || s.Len > maxColumns || s.Len%8 != 0 {
			fail("sums %s are of type %s[%d]", s, s.Type, s.Len)
		}
	}
	if k.Early && !k.IsPipelined() {
		fail("it is early, and not pipelined")
	}
	if len(k.Sums) > 0 && v.threads%Group != 0 {
		fail("blocks of %d threads, which are no whole groups", v.threads)
	}
}

func isElement(d ir.DType) bool { return IsArithmetic(d) || IsStorage(d) }

func isNumber(d ir.DType) bool { return IsArithmetic(d) && d != ir.Bool }

func isIdentifier(name string) bool { return isWord(name) && (name[0] < '0' || name[0] > '9') }

func isWord(name string) bool {
	for i := range len(name) {
		if !isWordByte(name[i]) {
			return false
		}
	}
	return name != ""
}

func (v *verifier) outer(x *Value) {
	v.define(x, nil)
	if !isIdentifier(x.Name) {
		fail("the name of %s is not an identifier", x)
	}
}

func (v *verifier) define(x *Value, def *Instr) {
	switch {
	case x == nil:
		fail("a value is nil")
	case !isWord(x.Name):
		fail("the name %q is not a word", x.Name)
	case v.names[x.Name] || v.defined[x]:
		fail("%s is defined twice", x)
	case x.Def != def:
		fail("%s does not know the instruction that computes it", x)
	}
	v.names[x.Name], v.defined[x], v.scope[x] = true, true, true
}

func (v *verifier) block(b *Block) {
	if v.blocks[b] {
		fail("a block belongs to two instructions")
	}
	v.blocks[b] = true
	if v.depth++; v.depth > maxNesting {
		fail("blocks are nested deeper than %d", maxNesting)
	}
	var local []*Value
	inner := func(x *Value, def *Instr) {
		v.define(x, def)
		if x.Type.Space != NoSpace || !isElement(x.Type.DType) || x.Len != 0 || x.Written {
			fail("%s is of type %s", x, x.Type)
		}
		local = append(local, x)
	}
	for _, p := range b.Params {
		inner(p, nil)
	}
	for _, in := range b.Instrs {
		if v.instrs++; v.instrs > maxInstrs {
			fail("more than %d instructions", maxInstrs)
		}
		v.instr(in)
		if byGroups(in.Op) && v.threads%Group != 0 {
			fail("%s: blocks of %d threads, which are no whole groups", in, v.threads)
		}
		if (in.Op == MatMulAdd || in.Op == Shuffle) && v.threads%Warp != 0 {
			fail("%s: blocks of %d threads, which are no whole warps", in, v.threads)
		}
		for _, r := range in.Results {
			inner(r, in)
		}
	}
	v.visible(b.Yields)
	for _, x := range local {
		delete(v.scope, x)
	}
	v.depth--
}

func (v *verifier) visible(list []*Value) {
	for _, x := range list {
		switch {
		case x == nil:
			fail("a value is nil")
		case v.defined[x] && !v.scope[x]:
			fail("%s is not in scope", x)
		case !v.scope[x]:
			fail("%s is not defined", x)
		}
	}
}

func (v *verifier) instr(in *Instr) {
	if in == nil {
		fail("an instruction is nil")
	}
	for _, b := range in.Blocks {
		if b == nil {
			fail("a block is nil")
		}
	}
	v.at(in, func() {
		v.visible(in.Args)
		for _, r := range in.Results {
			if r == nil {
				fail("a value is nil")
			}
		}
		counted := in.Op == Registers || in.Op == Drain || in.Op == Sum || in.Op == SetSum || in.Op == Shuffle
		if in.Op != Const && in.Bits != 0 || in.Op != For && in.Unroll != 0 || in.Op != ThreadIdx && in.Op != BlockIdx && in.Dim != 0 ||
			!counted && in.Count != 0 || in.Op != MultiplyTiles && (in.AcrossA || in.AcrossB && in.Op != MultiplyHeld) {
			fail("it has what belongs to another operation")
		}
		signature(in)
	})
	for _, b := range in.Blocks {
		v.block(b)
	}
	v.at(in, func() { yields(in) })
}

// at calls the function `check`. If `check` panics as [fail] does, the method at panics with the same error after the
// text of `in` and a colon.
func (v *verifier) at(in *Instr, check func()) {
	var err error
	func() {
		defer catch(&err)
		check()
	}()
	if err != nil {
		fail("%s: %w", in, err)
	}
}

func counts(in *Instr, args, results, blocks int) {
	if len(in.Args) != args || len(in.Results) != results || len(in.Blocks) != blocks {
		fail("%d operands, %d results and %d blocks, want %d, %d and %d", len(in.Args), len(in.Results), len(in.Blocks), args, results, blocks)
	}
}

func typed(d ir.DType, list ...*Value) {
	for _, x := range list {
		if x.Type != (Type{DType: d}) {
			fail("%s is of type %s, want %s", x, x.Type, d)
		}
	}
}

func scalar(x *Value) ir.DType {
	if x.Type.Space != NoSpace || !isElement(x.Type.DType) {
		fail("%s is of type %s", x, x.Type)
	}
	return x.Type.DType
}

// arity returns the number of operands of an operation on scalars, if it is fixed. It returns 0 for other
// operations.
func arity(o Op) int {
	switch ops[o].kind {
	case unary:
		return 1
	case binary, comparison:
		return 2
	case ternary:
		return 3
	}
	switch o {
	case Select:
		return 3
	case Join, Greater:
		return 2
	case Convert, Bitcast, Split, Exp2, Shuffle:
		return 1
	}
	return 0
}

// signature panics, as [fail] does, unless the operands, results and blocks of an instruction have
// the numbers and types that its operation requires. It does not check what the blocks yield.
func signature(in *Instr) {
	if in.Op >= numOps || in.Op == NoOp {
		fail("there is no such operation")
	}
	if on := ops[in.Op].on; on != 0 && ops[in.Op].kind != atomic {
		counts(in, arity(in.Op), 1, 0)
		d := scalar(in.Args[0])
		if on&classOf(d) == 0 {
			fail("it does not compute on %s", d)
		}
		typed(d, in.Args...)
		if ops[in.Op].kind == comparison {
			d = ir.Bool
		}
		typed(d, in.Results...)
		return
	}
	switch in.Op {
	case Const:
		counts(in, 0, 1, 0)
		if d := scalar(in.Results[0]); in.Bits != mask(in.Bits, d) {
			fail("more bits than %s has", d)
		}
	case ThreadIdx, BlockIdx:
		counts(in, 0, 1, 0)
		typed(ir.I32, in.Results...)
		if in.Dim < 0 || in.Dim > 2 {
			fail("there are 3 dimensions")
		}
	case Select:
		counts(in, arity(in.Op), 1, 0)
		typed(ir.Bool, in.Args[0])
		typed(scalar(in.Results[0]), in.Args[1:]...)
	case Convert, Bitcast:
		counts(in, arity(in.Op), 1, 0)
		from, to := scalar(in.Args[0]), scalar(in.Results[0])
		if from == to {
			fail("it changes nothing")
		}
		if in.Op == Bitcast && (from.Bits() != to.Bits() || from == ir.Bool || to == ir.Bool) {
			fail("%s and %s are not of the same width", from, to)
		}
	case Split:
		counts(in, arity(in.Op), 2, 0)
		if d := scalar(in.Args[0]); d.Bits() != 64 {
			fail("it does not split %s", d)
		}
		typed(ir.U32, in.Results...)
	case Join:
		counts(in, arity(in.Op), 1, 0)
		if d := scalar(in.Args[0]); d.Bits() != 16 {
			fail("it does not join %s", d)
		}
		typed(scalar(in.Args[0]), in.Args...)
		typed(ir.U32, in.Results...)
	case Exp2, Greater:
		counts(in, arity(in.Op), 1, 0)
		typed(ir.F32, in.Args...)
		typed(ir.F32, in.Results...)
	case Shuffle:
		counts(in, arity(in.Op), 1, 0)
		if d := scalar(in.Args[0]); d.Bits() != 32 {
			fail("it does not move %s", d)
		}
		typed(scalar(in.Args[0]), in.Results...)
		if in.Count < 1 || in.Count >= Warp {
			fail("threads %d apart, want 1 to %d", in.Count, Warp-1)
		}
	case Load:
		counts(in, 2, len(in.Results), 0)
		typed(element(in, len(in.Results)), in.Results...)
	case Store:
		counts(in, max(len(in.Args), 3), 0, 0)
		typed(element(in, len(in.Args)-2), in.Args[2:]...)
	case AtomicAdd, AtomicMin, AtomicMax, AtomicAnd, AtomicOr, AtomicXchg, AtomicCAS:
		args := 3
		if in.Op == AtomicCAS {
			args = 4
		}
		counts(in, args, 1, 0)
		d := element(in, 1)
		if classOf(d) != ints {
			fail("it does not compute on %s", d)
		}
		typed(d, in.Args[2:]...)
		typed(d, in.Results...)
	case MatMulAdd:
		if len(in.Args) == 0 || in.Args[0] == nil {
			fail("it has no operands")
		}
		d := scalar(in.Args[0])
		a, b, _, ok := FactorsOfMatrix(d)
		if !ok {
			fail("it does not compute on %s", d)
		}
		counts(in, a+b+sumsOfMatrix, sumsOfMatrix, 0)
		typed(d, in.Args[:a+b]...)
		typed(ir.F32, in.Args[a+b:]...)
		typed(ir.F32, in.Results...)
	case GroupIdx:
		counts(in, 0, 1, 0)
		typed(ir.I32, in.Results...)
	case GroupBarrier, Registers, Arrive, Await, CopyBox, MultiplyTiles, MultiplyHeld, SetSum, Commit, Drain, Sum:
		pipelineSignature(in)
	case Barrier:
		counts(in, 0, 0, 0)
	case For:
		counts(in, max(len(in.Args), 3), len(in.Args)-3, 1)
		typed(ir.I32, in.Args[:3]...)
		if step, ok := in.Args[2].Const(); ok && int32(step) <= 0 {
			fail("the step is %d", int32(step))
		}
		if in.Unroll < 0 || in.Unroll > maxUnroll {
			fail("it is unrolled %d times", in.Unroll)
		}
		same(in.Blocks[0].Params, append([]*Value{{Type: Type{DType: ir.I32}}}, in.Args[3:]...))
		same(in.Results, in.Args[3:])
	case If:
		counts(in, 1, len(in.Results), 2)
		typed(ir.Bool, in.Args...)
		same(in.Blocks[0].Params, nil)
		same(in.Blocks[1].Params, nil)
	case While:
		counts(in, len(in.Args), len(in.Args), 2)
		same(in.Blocks[0].Params, in.Args)
		same(in.Blocks[1].Params, in.Args)
		same(in.Results, in.Args)
	}
}

// element checks the operands of an access to n adjacent elements, and returns their type. It
// panics, as [fail] does, if an operand is wrong.
func element(in *Instr, n int) ir.DType {
	p, i := in.Args[0], in.Args[1]
	d := p.Type.DType
	if p.Type.Space != Global && p.Type.Space != Shared {
		fail("%s is not a pointer", p)
	}
	if i.Type != (Type{DType: ir.I32}) && i.Type != (Type{DType: ir.I64}) {
		fail("an index of type %s", i.Type)
	}
	if n < 1 || n > 16 || n&(n-1) != 0 || n > 1 && n*d.Size() > 16 {
		fail("%d adjacent elements of %s", n, d)
	}
	if in.Op != Load && !p.Written {
		fail("%s is not marked as written", p)
	}
	return d
}

func same(list, want []*Value) {
	if len(list) != len(want) {
		fail("%d values for %d", len(list), len(want))
	}
	for i, x := range list {
		if x == nil {
			fail("a value is nil")
		}
		if x.Type != want[i].Type {
			fail("%s is of type %s, want %s", x, x.Type, want[i].Type)
		}
	}
}

func yields(in *Instr) {
	switch in.Op {
	case For:
		same(in.Blocks[0].Yields, in.Args[3:])
	case If:
		same(in.Blocks[0].Yields, in.Results)
		same(in.Blocks[1].Yields, in.Results)
	case While:
		same(in.Blocks[0].Yields, []*Value{{Type: Type{DType: ir.Bool}}})
		same(in.Blocks[1].Yields, in.Args)
	}
}

package emit

import (
	"fmt"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// function prints the steps of a program's function. Its parameters, results,
// weights and buffers are variables whose names were chosen before.
type function struct {
	*program.Func
	// host is the type that the function is a method of, nil for none.
	host *host
	// name is that of the method and the beginning of the names of its tables, names
	// are those of the methods that its parts are.
	name  string
	names []string
	// base is the variable that holds where its arena begins, "" for the whole.
	base    string
	callees map[*program.Func]*function
	symbols map[string]string          // symbol → int variable
	params  []string                   // slices
	results []string                   // slices
	weights map[string]*jen.Statement  // weight → slice expression
	buffers map[*plan.Buffer]string    // buffer → its variable
	consts  map[*plan.Buffer]string    // arena buffer → the constant that it is found by
	held    map[*plan.Variable]string  // variable → field of the session
	customs map[*program.Custom]string // call of the user's function → field of the session
	// turns and rows are the variables of loops.
	turns  map[*program.Repeat][]turn
	rows   map[*program.Repeat][]string
	shapes *shapes
	chains *chains
	arena  *jen.Statement
	// ports is the number of results that callers get: those after it are fields of the
	// gradients, g. backward says what may be left out where some are not wanted.
	ports    int
	backward *program.Backward
	// pass is the trainer's field that holds the backward pass.
	pass string
	// watches tells that the steps look for NaN.
	watches bool
	// since is how long the steps take after the last look at the context, see duration,
	// and ends tells that the step's kernel takes it.
	since float64
	// steps are the numbers of steps of nodes, and shares what each of them takes, see share.
	steps  map[*ir.Node]int
	shares map[*ir.Node]float64
	ends   bool
	// used are the symbols that were printed, and read the parameters and symbols' variables
	// that the part printed last reads.
	used  map[string]bool
	read  map[string]bool
	fits  *fits
	entry jen.Code               // what is computed of the symbols of its parameters
	lap   func(program.Step) int // see Model.Lap
	// maxSteps is the largest number of steps in one Go function.
	maxSteps int
}

// maxSteps is the largest number of steps in one Go function unless the model says
// another.
const maxSteps = 150

// parts splits the steps into runs that make one Go function each.
func (f *function) parts() [][]program.Step {
	var parts [][]program.Step
	steps := f.Steps
	for len(steps) > f.maxSteps {
		parts = append(parts, steps[:f.maxSteps])
		steps = steps[f.maxSteps:]
	}
	return append(parts, steps)
}

// body prints the statements of some steps, the views they use first, and
// returns what they read.
func (f *function) body(steps []program.Step) (body []jen.Code, used *views) {
	views := &views{f: f, seen: map[string]bool{}, room: map[string]*jen.Statement{}, weights: map[string]bool{}}
	var out []jen.Code
	var node *ir.Node
	f.since, f.read = 0, map[string]bool{}
	for _, s := range steps {
		out = append(out, jen.Line())
		end := f.until(s)
		if n := s.At(); n == nil || n != node {
			out = append(out, describes(s))
			node = n
		}
		out = append(out, end...)
		before := len(out)
		switch s := s.(type) {
		case *program.Call:
			out = append(out, f.fallible(s.Kernel, s.Node, kernel(s.Kernel).Call(f.args(s.Kernel, s.Args, views)...)))
		case *program.Check:
			name := "CheckDim"
			if s.One {
				name = "CheckBroadcast"
			}
			check := jen.Qual(rtPath, name).Call(jen.Lit(ir.OpName(s.Node.Op)), text(s.What), f.int(s.A), f.int(s.B))
			out = append(out, returnAt(s.Node, check))
		case *program.Loop:
			out = append(out, f.loop(s, views)...)
		case *program.Invoke:
			out = append(out, f.invoke(s, views)...)
		case *program.Branch:
			out = append(out, f.branch(s, views)...)
		case *program.Repeat:
			out = append(out, f.repeat(s, views)...)
		case *program.Custom:
			out = append(out, f.custom(s, views)...)
		case *program.Bind:
			out = append(out, f.bind(s, views)...)
		case *program.Alloc:
			out = append(out, f.alloc(s, views)...)
		case *program.Hold:
			out = append(out, f.hold(s))
		case *program.Resize:
			out = append(out, f.resize(s))
		}
		out = append(out[:before:before], f.optional(s, out[before:], views)...)
		out = append(out, f.laps(s)...)
	}
	return append(views.decls(), out...), views
}

// id prints a parameter or a symbol's variable.
func (f *function) id(name string) *jen.Statement {
	f.read[name] = true
	return jen.Id(name)
}

// invoke prints the call of another function.
func (f *function) invoke(s *program.Invoke, v *views) []jen.Code {
	var before, results, args []jen.Code
	for i, ref := range s.Results {
		b, result := f.passed(s.Callee, i, ref, s.Node.Results[i].Type, v)
		before, results = append(before, b...), append(results, result)
	}
	for _, ref := range s.Args {
		args = append(args, f.slice(ref, v))
	}
	return append(before, f.enter(s.Callee, s.Base, results, args))
}

// bind prints the variables of symbols that kernels measure; a symbol that
// nothing uses is only checked.
func (f *function) bind(s *program.Bind, v *views) []jen.Code {
	var out []jen.Code
	for i, c := range s.Calls {
		name, call := f.symbols[s.Symbols[i]], kernel(c.Kernel).Call(f.args(c.Kernel, c.Args, v)...)
		ret := jen.Return(jen.Qual(rtPath, "At").Call(text(s.Node.Pos), jen.Err()))
		switch used, fallible := f.used[s.Symbols[i]], exec.Fallible(c.Kernel); {
		case used && fallible:
			out = append(out, jen.List(jen.Id(name), jen.Err()).Op(":=").Add(call), jen.If(jen.Err().Op("!=").Nil()).Block(ret))
		case used:
			out = append(out, jen.Id(name).Op(":=").Add(call))
		case fallible:
			out = append(out, jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(ret))
		}
	}
	return append(out, f.fits.atStep(s.Node, s.Symbols))
}

// alloc prints the allocation of a buffer whose size is known by now, and its
// variable if one of the steps that follow in the same Go function uses it.
func (f *function) alloc(s *program.Alloc, v *views) []jen.Code {
	name, tail := f.buffers[s.Buffer], f.host.self().Dot(f.table("tails")).Index(jen.Lit(s.Index))
	v.room[name] = &jen.Statement{}
	bytes := s.Buffer.Elems.Mul(ir.Const(s.Buffer.DType.Size()))
	z := "z" + exported(name)
	f.fits.room(s.Buffer)
	return []jen.Code{
		jen.Var().Id(z).Qual(rtPath, "Sizes"),
		returnAt(s.Node, f.host.self().Dot("tail").Dot("Place").Call(jen.Op("&").Add(tail.Clone()), foldDim(bytes, ir.Algebra[*jen.Statement](sized{f, z})), jen.Op("&").Id(z), jen.Lit(ir.OpName(s.Node.Op)))),
		v.room[name],
	}
}

// hold prints the making of room for strings.
func (f *function) hold(s *program.Hold) jen.Code {
	grow := jen.Qual(rtPath, "Grow").Call(jen.Op("&").Add(f.host.self()).Dot(f.held[s.Variable]), f.int(s.Variable.Type.Elems()))
	return returnAt(s.Node, grow)
}

// resize prints the change of a result to the shape that is known by now.
func (f *function) resize(s *program.Resize) jen.Code {
	args := append([]jen.Code{text(f.IR.ResultNames[s.Index])}, f.ints(s.Shape)...)
	call := f.id(f.results[s.Index]).Dot("Resize").Call(args...)
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
}

// binds returns the symbols that some steps bind, in order.
func binds(steps []program.Step) []string {
	var out []string
	for _, s := range steps {
		switch s := s.(type) {
		case *program.Bind:
			out = append(out, s.Symbols...)
		case *program.Branch:
			out = append(out, symbolsOf(s.Extents)...)
		case *program.Repeat:
			out = append(out, symbolsOf(s.Extents)...)
		case *program.Custom:
			out = append(out, symbolsOf(s.Extents)...)
		}
	}
	return out
}

func symbolsOf(extents []program.Extent) []string {
	var out []string
	for _, e := range extents {
		out = append(out, e.Symbol)
	}
	return out
}

// tripSymbols returns the symbols that the trips of loops bind.
func tripSymbols(steps []program.Step) []string {
	var out []string
	for _, s := range steps {
		if r, ok := s.(*program.Repeat); ok {
			for _, c := range r.Carried {
				out = append(out, symbolsOf(c.Varying)...)
			}
		}
	}
	return out
}

// describes prints the line above a step: what the model calls its node, and the types of
// the results. The file of the IR has the rest.
func describes(s program.Step) jen.Code {
	n := s.At()
	if n == nil {
		return jen.Comment("copy a result")
	}
	line := clip(nodeName(n), maxNodeName)
	for i, r := range n.Results {
		line += []string{": ", ", "}[min(i, 1)] + r.Type.String()
	}
	return jen.Comment("// " + comment(line))
}

// maxNodeName bounds the length of a node's name in the line above its call.
const maxNodeName = 80

// fallible wraps a call that can fail in a test that returns its error.
func (f *function) fallible(kernel string, n *ir.Node, call *jen.Statement) jen.Code {
	if !exec.Fallible(kernel) {
		return call
	}
	return returnAt(n, call)
}

func returnAt(n *ir.Node, call *jen.Statement) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(
		jen.Return(jen.Qual(rtPath, "At").Call(text(n.Pos), jen.Err())))
}

// text prints a quoted literal of a model's text, in ASCII.
func text(s string) *jen.Statement { return jen.Id(strconv.QuoteToASCII(s)) }

// views collects the variables of a Go function that hold the arena's buffers.
type views struct {
	f    *function
	seen map[string]bool
	list []jen.Code
	// room holds, for each buffer that one of the steps allocates, the statement that
	// declares its variable: empty until the variable is used.
	room map[string]*jen.Statement
	// weights are those that the steps read, and gradients tells that they write some.
	weights   map[string]bool
	gradients bool
}

func (v *views) decls() []jen.Code {
	if len(v.list) == 0 {
		return nil
	}
	return []jen.Code{jen.Var().Defs(v.list...)}
}

// variable returns the name of the variable for an arena reference, of one
// element type each.
func (v *views) variable(ref *program.Ref) string {
	f, b := v.f, ref.Place.Buffer
	name := f.buffers[b]
	if ref.DType != b.DType {
		name += exportedType(ref.DType)
	}
	if !v.seen[name] {
		v.seen[name] = true
		size := b.Elems
		if ref.DType != b.DType {
			size = b.Elems.Mul(ir.Const(b.DType.Size())).FloorDiv(ir.Const(ref.DType.Size()))
		}
		v.list = append(v.list, jen.Id(name).Op("=").Qual(rtPath, "View").Index(jen.Id(goType(ref.DType))).Call(f.arena.Clone(), f.offset(b), f.int(size)))
	}
	return name
}

// late returns the name of the variable for a buffer of the tail. It is declared
// where the buffer is allocated, or first of all if an earlier part of the function
// allocated it.
func (v *views) late(ref *program.Ref) string {
	f, b := v.f, ref.Place.Buffer
	name := f.buffers[b]
	if v.seen[name] {
		return name
	}
	v.seen[name] = true
	tail := f.host.self().Dot(f.table("tails")).Index(jen.Lit(slices.Index(f.Plan.Tails, b)))
	view := jen.Qual(rtPath, "View").Index(jen.Id(goType(b.DType))).Call(tail, jen.Lit(0), f.int(b.Elems))
	if room := v.room[name]; room != nil {
		room.Id(name).Op(":=").Add(view)
	} else {
		v.list = append(v.list, jen.Id(name).Op("=").Add(view))
	}
	return name
}

// offset prints where a buffer begins, in bytes.
func (f *function) offset(b *plan.Buffer) *jen.Statement {
	at := f.offsetInside(b)
	if f.base == "" {
		return at
	}
	return f.id(f.base).Op("+").Add(at)
}

func (f *function) offsetInside(b *plan.Buffer) *jen.Statement {
	name := jen.Id(f.consts[b])
	switch f.Plan.Mode {
	case plan.Scaled:
		if _, isConst := b.Offset.Int(); !isConst {
			coef, _, _ := b.Offset.Linear(f.Plan.Symbol)
			if coef.Mul(ir.Sym(f.Plan.Symbol)).Equal(b.Offset) {
				return f.int(ir.Sym(f.Plan.Symbol)).Op("*").Add(name)
			}
			return f.int(b.Offset)
		}
	case plan.Dynamic:
		return jen.Int().Call(f.host.self().Dot(f.table("offsets")).Index(name))
	}
	return name
}

// table returns the name of one of a function's tables.
func (f *function) table(what string) string {
	if f.name == "forward" {
		return what
	}
	return f.name + exported(what)
}

// container prints the container that a reference is to.
func (f *function) container(ref *program.Ref) *jen.Statement {
	switch p := ref.Place; p.Kind {
	case plan.Param:
		return f.id(f.params[p.Index])
	case plan.Held:
		return f.host.self().Dot(f.held[p.Variable])
	}
	ir.Fail("%s cannot be read here", ref.Value)
	return nil
}

// pointer prints a pointer to the container that a reference is to.
func (f *function) pointer(ref *program.Ref) *jen.Statement {
	if p := ref.Place; p.Kind == plan.Result {
		return f.id(f.results[p.Index])
	}
	return jen.Op("&").Add(f.container(ref))
}

// slice prints the memory of a reference.
func (f *function) slice(ref *program.Ref, v *views) *jen.Statement {
	if ref.IsContainer() {
		return f.container(ref)
	}
	var base *jen.Statement
	whole := false
	switch p := ref.Place; p.Kind {
	case plan.Param:
		base = reinterpret(ref, f.IR.Params[p.Index], f.id(f.params[p.Index]))
		whole = f.IR.Params[p.Index].Type.Elems().Equal(ref.Len)
	case plan.Result:
		v.gradients = v.gradients || p.Index >= f.ports && f.backward != nil
		base = f.id(f.results[p.Index])
		if f.Plan.IsLate(f.IR.Results[p.Index].Type) {
			base = base.Dot("Data")
		}
		base = reinterpret(ref, f.IR.Results[p.Index], base)
		whole = f.IR.Results[p.Index].Type.Elems().Equal(ref.Len)
	case plan.Weight:
		v.weights[p.Weight] = true
		base, whole = f.weights[p.Weight].Clone(), ref.Place.Offset.Equal(ir.Dim{})
	case plan.Tail:
		base = jen.Id(v.late(ref))
		whole = ref.DType == p.Buffer.DType && p.Buffer.Elems.Equal(ref.Len)
	case plan.Held:
		base = f.host.self().Dot(f.held[p.Variable])
		if p.Variable.Boxed {
			base = base.Dot("Data")
		}
		whole = p.Variable.Type.Elems().Equal(ref.Len)
	case plan.Arena:
		base = jen.Id(v.variable(ref))
		whole = ref.DType == p.Buffer.DType && p.Buffer.Elems.Equal(ref.Len)
	default:
		ir.Fail("%s has no memory", ref.Value)
	}
	if whole {
		return base
	}
	at, end := ref.Place.Offset, ref.Place.Offset.Add(ref.Len)
	low := jen.Empty()
	if !at.Equal(ir.Dim{}) {
		low = f.int(at)
	}
	return base.Index(low, f.int(end))
}

// args prints the arguments of a kernel.
func (f *function) args(kernel string, args []any, v *views) []jen.Code {
	out := make([]jen.Code, len(args))
	for i, a := range args {
		if dims, ok := a.([]ir.Dim); ok {
			out[i] = jen.Id(exec.ParamType(kernel, i)).Values(f.ints(dims)...)
			continue
		}
		out[i] = f.arg(a, v)
	}
	return out
}

// reinterpret prints the memory of a caller's tensor as elements of a reference's
// type.
func reinterpret(ref *program.Ref, v *ir.Value, slice *jen.Statement) *jen.Statement {
	if ref.DType == v.Type.DType {
		return slice
	}
	return jen.Qual(rtPath, "Reinterpret").Index(jen.Id(goType(ref.DType))).Call(slice)
}

func (f *function) ints(dims []ir.Dim) []jen.Code {
	list := make([]jen.Code, len(dims))
	for i, d := range dims {
		list[i] = f.int(d)
	}
	return list
}

func (f *function) arg(a any, v *views) *jen.Statement {
	switch a := a.(type) {
	case nil:
		return jen.Nil()
	case *program.Ref:
		if a == nil {
			return jen.Nil()
		}
		return f.slice(a, v)
	case program.Pointer:
		return f.pointer(a.Ref)
	case program.Scalar:
		return f.slice(a.Ref, v).Index(jen.Lit(0))
	case ir.Dim:
		return f.int(a)
	case ir.Context:
		if f.host == nil {
			return jen.Nil()
		}
		return f.host.self().Dot("ctx")
	case ir.Number:
		return number(a)
	case *program.Struct:
		if len(a.Fields) == 0 {
			return jen.Nil()
		}
		return f.composite(a, v)
	case *program.Chain:
		return jen.Id(f.chains.name(a))
	case bool:
		return jen.Lit(a)
	case string:
		return text(a)
	case float64:
		return float(a, 64)
	case float32:
		return float(float64(a), 32)
	}
	ir.Fail("a kernel argument cannot be a %T", a)
	return nil
}

// composite prints a pointer to a struct: a variable of plan.go when all its
// fields are constants.
func (f *function) composite(s *program.Struct, v *views) *jen.Statement {
	static := isStatic(s)
	values := make([]jen.Code, len(s.Fields))
	for i, field := range s.Fields {
		value := f.field(s, field, v)
		values[i] = jen.Id(field.Name).Op(":").Add(value)
	}
	ctx := f.ends && takesContext(s)
	switch {
	case static && ctx:
		return jen.Id(f.shapes.name(s, values)).Dot("Until").Call(f.host.self().Dot("ctx"))
	case static:
		return jen.Op("&").Id(f.shapes.name(s, values))
	case ctx:
		values = append(values, jen.Id("Ctx").Op(":").Add(f.host.self()).Dot("ctx"))
	}
	return jen.Op("&").Qual(cpuPath, s.Type).Values(values...)
}

func (f *function) field(s *program.Struct, field ir.Field, v *views) *jen.Statement {
	typ := exec.FieldType(s.Type, field.Name)
	if typ == "" {
		ir.Fail("%s has no field %s", s.Type, field.Name)
	}
	switch list := field.Value.(type) {
	case []ir.Dim:
		return jen.Id(typ).Values(f.ints(list)...)
	case []any:
		var items []jen.Code
		for _, item := range list {
			items = append(items, f.arg(item, v))
		}
		return jen.Id(typ).Values(items...)
	}
	return f.arg(field.Value, v)
}

func isStatic(s *program.Struct) bool {
	for _, field := range s.Fields {
		switch v := field.Value.(type) {
		case *program.Ref, *program.Chain, *program.Struct, program.Scalar, program.Pointer:
			return false
		case ir.Dim:
			if !v.IsConst() {
				return false
			}
		case []ir.Dim:
			if _, ok := ir.Ints(v); !ok {
				return false
			}
		case []any:
			for _, item := range v {
				if _, isRef := item.(*program.Ref); isRef {
					return false
				}
			}
		}
	}
	return true
}

// number prints a constant of an element type.
func number(n ir.Number) *jen.Statement {
	switch {
	case n.DType == ir.F32:
		return float(n.Float, 32)
	case n.DType == ir.F64:
		return float(n.Float, 64)
	case n.DType.IsFloat():
		return jen.Qual(rtPath, strings.TrimPrefix(goType(n.DType), "rt.")).Call(jen.Id(fmt.Sprintf("%#x", n.Bits())))
	case n.DType == ir.Bool:
		return jen.Lit(n.Int != 0)
	case n.DType == ir.U64:
		return jen.Id(strconv.FormatUint(uint64(n.Int), 10))
	}
	return jen.Id(strconv.FormatInt(n.Int, 10))
}

// float prints a constant with the digits that its width needs.
func float(v float64, bits int) *jen.Statement {
	typ := "float" + strconv.Itoa(bits)
	switch {
	case math.IsInf(v, 1) && bits == 32:
		return jen.Qual(cpuPath, "Inf")
	case math.IsInf(v, 0):
		sign := 1
		if v < 0 {
			sign = -1
		}
		return jen.Id(typ).Call(jen.Qual("math", "Inf").Call(jen.Lit(sign)))
	case math.IsNaN(v):
		return jen.Id(typ).Call(jen.Qual("math", "NaN").Call())
	case v == 0 && math.Signbit(v):
		return jen.Id(typ).Call(jen.Qual("math", "Copysign").Call(jen.Lit(0), jen.Lit(-1)))
	}
	return jen.Id(strconv.FormatFloat(v, 'g', -1, bits))
}

// kernel prints the function that a kernel is: of package cpu, or of one below it.
func kernel(name string) *jen.Statement {
	if folder, name, ok := strings.Cut(name, "."); ok {
		return jen.Qual(cpuPath+"/"+folder, name)
	}
	return jen.Qual(cpuPath, name)
}

// goType returns the Go type of an element.
func goType(d ir.DType) string { return exec.GoType(d).String() }

// heldType prints the Go type of a container, as [exec.HeldType] has it.
func heldType(t ir.Type) string {
	item := func() string {
		if t.Elem.IsTensor() {
			return "rt.Tensor[" + goType(t.Elem.DType) + "]"
		}
		return heldType(*t.Elem)
	}
	switch t.Kind {
	case ir.SequenceKind:
		return "[]" + item()
	case ir.OptionalKind:
		return "*" + item()
	case ir.MapKind:
		return "map[" + goType(t.DType) + "]" + goType(t.Elem.DType)
	}
	return "[]" + goType(t.DType)
}

// exportedType returns the Go type of an element as a part of a name.
func exportedType(d ir.DType) string { return exported(goType(d)) }

// shapes collects the structs of constants that plan.go declares.
type shapes struct {
	names  *names
	byText map[string]string
	decls  []jen.Code
}

// name returns the variable that holds a struct, declaring it when it is new.
func (s *shapes) name(st *program.Struct, values []jen.Code) string {
	key := fmt.Sprintf("%s%#v", st.Type, jen.Values(values...))
	if name, ok := s.byText[key]; ok {
		return name
	}
	kind := strings.TrimSuffix(st.Type, "Shape")
	name := s.names.unique(unexported(kind) + strconv.Itoa(len(s.byText)+1))
	s.byText[key] = name
	s.decls = append(s.decls, jen.Id(name).Op("=").Qual(cpuPath, st.Type).Values(values...))
	return name
}

// isGoName reports whether name can stand for a variable.
func isGoName(name string) bool { return isIdentifier(name) && !token.IsExported(name) }

package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// function prints the steps of a program's function. The names of the variables for its parameters,
// results, weights and buffers have been chosen before.
type function struct {
	*program.Func
	// host is the type whose method the function is, or nil.
	host *host
	// name is the name of the method and the prefix of its tables.
	name string
	// names are the names of the methods for its parts.
	names []string
	// bases are the variables that hold the offsets of its arenas. They are empty for a method's
	// own function.
	bases   []string
	callees map[*program.Func]*function
	symbols map[string]string          // symbol → int variable
	params  []string                   // slice variables
	results []string                   // slice variables
	weights map[string]*jen.Statement  // weight → slice expression
	buffers map[*plan.Buffer]string    // buffer → variable
	consts  map[*plan.Buffer]string    // arena buffer → constant with its index or offset
	held    map[*plan.Variable]string  // variable → field of the session
	customs map[*program.Custom]string // call of the user's function → field of the session
	// local is the scope of the variables. own holds variables that are not values; see
	// variableFor.
	local *names
	own   map[any]string
	// turns and rows are the variables of loops.
	turns   map[*program.Repeat][]turn
	rows    map[*program.Repeat][]string
	printer Printer // of the target
	global  *names  // of the package
	arena   *jen.Statement
	// ports is the number of results that callers get. Further results are fields of the variable g,
	// the gradients. backward says what can be left out if some gradients are not wanted.
	ports    int
	backward *program.Backward
	// bytes is the name of the function that computes the sizes of the buffers. It is "" unless the
	// plan is [plan.Dynamic]. placed says that the part printed last reads the offsets of buffers.
	bytes  string
	placed bool
	// watches says that the steps look for NaN.
	watches bool
	// since is the estimated time since the last check of the context, in units of 5 µs; see duration.
	since float64
	// steps holds the number of steps of each node.
	steps map[*ir.Node]int
	// shares holds the duration of each of these steps, in units of 5 µs, or −1 if it is not known;
	// see share.
	shares map[*ir.Node]float64
	// ends says that the step that is being printed may take long and checks the context itself.
	ends bool
	// used holds the symbols that were printed.
	used map[string]bool
	// read holds the parameters, and the variables of symbols, that the part printed last reads.
	read  map[string]bool
	fits  *fits
	entry jen.Code               // computed from the symbols of its parameters
	lap   func(program.Step) int // see [Model.Lap]
	// maxSteps is the maximum number of steps in one Go function.
	maxSteps int
}

// maxSteps is the maximum number of steps in one Go function if the model does not set it. A longer schedule is split
// into several functions.
const maxSteps = 150

func (f *function) parts() [][]program.Step {
	var parts [][]program.Step
	steps := f.Steps
	for len(steps) > f.maxSteps {
		parts = append(parts, steps[:f.maxSteps])
		steps = steps[f.maxSteps:]
	}
	return append(parts, steps)
}

func (f *function) body(steps []program.Step) (body []jen.Code, used *views) {
	views := &views{f: f, seen: map[string]bool{}, room: map[string]*jen.Statement{}, weights: map[string]bool{}}
	var out []jen.Code
	var node *ir.Node
	f.since, f.read, f.placed = 0, map[string]bool{}, false
	for _, s := range steps {
		out = append(out, jen.Line())
		end := f.until(s)
		if n := s.At(); n == nil || n != node {
			out = append(out, f.describes(s))
			node = n
		}
		out = append(out, end...)
		before := len(out)
		switch s := s.(type) {
		case *program.Check:
			name := "CheckDim"
			if s.One {
				name = "CheckBroadcast"
			}
			check := jen.Qual(rtPath, name).Call(jen.Lit(ir.OpName(s.Node.Op)), Text(s.What), f.int(s.A), f.int(s.B))
			out = append(out, returnAt(s.Node, check))
		case *program.Invoke:
			out = append(out, f.invoke(s, views)...)
		case *program.Branch:
			out = append(out, f.branch(s, views)...)
		case *program.Repeat:
			out = append(out, f.repeat(s, views)...)
		case *program.Custom:
			out = append(out, (&Scope{f, views}).OnHost(s, f.custom(s, views))...)
		case *program.Bind:
			out = append(out, f.fetch(views, s.Refs()...)...)
			out = append(out, f.bind(s, views)...)
		case *program.Alloc:
			out = append(out, f.alloc(s, views)...)
		case *program.Hold:
			out = append(out, f.hold(s))
		case *program.Resize:
			out = append(out, f.resize(s))
		default:
			out = append(out, f.printer.Step(&Scope{f, views}, s)...)
		}
		out = append(out[:before:before], f.optional(s, out[before:], views)...)
		out = append(out, f.laps(s)...)
	}
	return append(views.decls(), out...), views
}

// id prints `name`, the name of a parameter or of the variable of a symbol. It records that the part of the schedule
// that is being printed reads it.
func (f *function) id(name string) *jen.Statement {
	f.read[name] = true
	return jen.Id(name)
}

func (f *function) invoke(s *program.Invoke, v *views) []jen.Code {
	var before, results, args []jen.Code
	for i, ref := range s.Results {
		b, result := f.passed(s.Callee, i, ref, s.Node.Results[i].Type, v)
		before, results = append(before, b...), append(results, result)
	}
	for _, ref := range s.Args {
		args = append(args, f.slice(ref, v))
	}
	return append(before, f.enter(s.Callee, s.Bases, results, args))
}

// bind prints declarations of variables for the symbols whose values step s finds at run time. A symbol that is not
// used has no variable. If finding its value can fail, bind prints the check of the error.
func (f *function) bind(s *program.Bind, v *views) []jen.Code {
	var out []jen.Code
	for i, m := range s.Measures {
		name := f.symbols[s.Symbols[i]]
		value, fallible := f.printer.Measure(&Scope{f, v}, m)
		ret := jen.Return(jen.Qual(rtPath, "At").Call(Text(s.Node.Pos), jen.Err()))
		switch used := f.used[s.Symbols[i]]; {
		case used && fallible:
			out = append(out, jen.List(jen.Id(name), jen.Err()).Op(":=").Add(value), jen.If(jen.Err().Op("!=").Nil()).Block(ret))
		case used:
			out = append(out, jen.Id(name).Op(":=").Add(value))
		case fallible:
			out = append(out, jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(value), jen.Err().Op("!=").Nil()).Block(ret))
		}
	}
	return append(out, f.fits.atStep(s.Node, s.Symbols))
}

func (f *function) alloc(s *program.Alloc, v *views) []jen.Code {
	name, tail := f.buffers[s.Buffer], f.host.self().Dot(f.table("tails")).Index(jen.Lit(s.Index))
	v.room[name] = &jen.Statement{}
	bytes := s.Buffer.Elems.Mul(dim.Const(s.Buffer.DType.Size()))
	z := f.variableFor(s, "z"+ir.Exported(name))
	f.fits.room(s.Buffer)
	return []jen.Code{
		jen.Var().Id(z).Qual(rtPath, "Sizes"),
		returnAt(s.Node, frame("Tail").Dot("Place").Call(jen.Op("&").Add(tail.Clone()), foldDim(bytes, dim.Algebra[*jen.Statement](sized{f: f, z: z})), jen.Op("&").Id(z), jen.Lit(ir.OpName(s.Node.Op)))),
		v.room[name],
	}
}

func (f *function) hold(s *program.Hold) jen.Code {
	grow := jen.Qual(rtPath, "Grow").Call(jen.Op("&").Add(f.host.self()).Dot(f.held[s.Variable]), f.int(s.Variable.Type.Elems()))
	return returnAt(s.Node, grow)
}

func (f *function) resize(s *program.Resize) jen.Code {
	args := append([]jen.Code{Text(f.IR.ResultNames[s.Index])}, f.ints(s.Shape)...)
	call := f.id(f.results[s.Index]).Dot("Resize").Call(args...)
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
}

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

func returnAt(n *ir.Node, call *jen.Statement) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(
		jen.Return(jen.Qual(rtPath, "At").Call(Text(n.Pos), jen.Err())))
}

type views struct {
	f    *function
	seen map[string]bool
	list []jen.Code
	// room holds, for each buffer allocated by one of the steps, the statement that declares its
	// variable: empty until the variable is used.
	room map[string]*jen.Statement
	// weights holds the weights that the steps read. gradients says whether the steps write
	// gradients.
	weights   map[string]bool
	gradients bool
}

func (v *views) decls() []jen.Code {
	if len(v.list) == 0 {
		return nil
	}
	return []jen.Code{jen.Var().Defs(v.list...)}
}

// variable returns the name of the variable for the buffer that ref refers to, which is in the arena. It declares the
// variable if it is new. A buffer has one variable for each element type.
func (v *views) variable(ref *plan.Ref) string {
	f, b := v.f, ref.Place.Buffer
	name := f.buffers[b]
	if ref.DType != b.DType {
		name = f.variableFor(retyped{b, ref.DType}, name+exportedType(ref.DType))
	}
	if !v.seen[name] {
		v.seen[name] = true
		size := b.Elems
		if ref.DType != b.DType {
			size = b.Elems.Mul(dim.Const(b.DType.Size())).FloorDiv(dim.Const(ref.DType.Size()))
		}
		v.list = append(v.list, jen.Id(name).Op("=").Qual(rtPath, "View").Index(jen.Id(gotype.Elem(ref.DType))).Call(f.arena.Clone(), f.offset(b), f.int(size)))
	}
	return name
}

type retyped struct {
	buffer *plan.Buffer
	dtype  ir.DType
}

// late returns the name of the variable for the buffer that ref refers to, which is not in the arena because its size
// is known only at run time. The variable is declared after the buffer's allocation, or at the start if an earlier
// part of the function allocated the buffer.
func (v *views) late(ref *plan.Ref) string {
	f, b := v.f, ref.Place.Buffer
	name := f.buffers[b]
	if v.seen[name] {
		return name
	}
	v.seen[name] = true
	tail := f.host.self().Dot(f.table("tails")).Index(jen.Lit(slices.Index(f.Plan.Tails, b)))
	view := jen.Qual(rtPath, "View").Index(jen.Id(gotype.Elem(b.DType))).Call(tail, jen.Lit(0), f.int(b.Elems))
	if room := v.room[name]; room != nil {
		room.Id(name).Op(":=").Add(view)
	} else {
		v.list = append(v.list, jen.Id(name).Op("=").Add(view))
	}
	return name
}

func (f *function) offset(b *plan.Buffer) *jen.Statement {
	at := f.offsetInside(b)
	if len(f.bases) == 0 {
		return at
	}
	i, _ := f.Arena(b)
	return f.id(f.bases[i]).Op("+").Add(at)
}

// start returns the offset of a buffer in its arena, in bytes.
func (f *function) start(b *plan.Buffer) dim.Dim {
	if len(f.bases) == 0 {
		return b.Offset
	}
	_, offset := f.Arena(b)
	return offset
}

func (f *function) offsetInside(b *plan.Buffer) *jen.Statement {
	name, at := jen.Id(f.consts[b]), f.start(b)
	switch f.Plan.Mode {
	case plan.Scaled:
		if _, isConst := at.Int(); !isConst {
			coef, _, _ := at.Linear(f.Plan.Symbol)
			if coef.Mul(dim.Sym(f.Plan.Symbol)).Equal(at) {
				return f.int(dim.Sym(f.Plan.Symbol)).Op("*").Add(name)
			}
			return f.int(at)
		}
	case plan.Dynamic:
		f.placed = true
		return jen.Id("off").Index(name)
	}
	return name
}

func (f *function) table(kind string) string {
	if f.name == "forward" {
		return kind
	}
	return f.name + strings.ToUpper(kind[:1]) + kind[1:]
}

// container prints the container that ref refers to. It fails if ref refers to a result, because
// results can only be written.
func (f *function) container(ref *plan.Ref) *jen.Statement {
	switch p := ref.Place; p.Kind {
	case plan.Param:
		return f.id(f.params[p.Index])
	case plan.Held:
		return f.host.self().Dot(f.held[p.Variable])
	}
	ir.Fail("%s cannot be read here", ref.Value)
	return nil
}

func (f *function) pointer(ref *plan.Ref) *jen.Statement {
	if p := ref.Place; p.Kind == plan.Result {
		return f.id(f.results[p.Index])
	}
	return jen.Op("&").Add(f.container(ref))
}

// slice prints the memory that ref refers to as a Go slice. If ref refers to a container, it prints
// the container.
func (f *function) slice(ref *plan.Ref, v *views) *jen.Statement {
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
		base, whole = f.weights[p.Weight].Clone(), ref.Place.Offset.Equal(dim.Dim{})
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
	if !at.Equal(dim.Dim{}) {
		low = f.int(at)
	}
	return base.Index(low, f.int(end))
}

func reinterpret(ref *plan.Ref, v *ir.Value, slice *jen.Statement) *jen.Statement {
	if ref.DType == v.Type.DType {
		return slice
	}
	return jen.Qual(rtPath, "Reinterpret").Index(jen.Id(gotype.Elem(ref.DType))).Call(slice)
}

func (f *function) ints(dims []dim.Dim) []jen.Code {
	list := make([]jen.Code, len(dims))
	for i, d := range dims {
		list[i] = f.int(d)
	}
	return list
}

func exportedType(d ir.DType) string { return ir.Exported(gotype.Elem(d)) }

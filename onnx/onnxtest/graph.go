package onnxtest

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Graph returns a random model of a few dozen nodes. The model has branches, loops, scans and calls
// of local functions, nested up to three deep. pick returns a random number in [0, n).
//
// The inputs are "x" f32[N,4], "v" f32[4], "k" i64[4] and "b" bool[]. The outputs are the last values
// that nothing else reads, at most twelve. Conditions depend only on integers, flags and the inputs,
// so that rounding does not affect them. Sums remain small.
func Graph(pick func(n int) int) *Model {
	d := &drawer{pick: pick, read: map[string]bool{}}
	m := New(17).Import("local", 1)
	for i := range pick(3) {
		d.function(m, fmt.Sprintf("F%d", i))
	}
	x := kind{ir.F32, []any{"N", 4}}
	g := &graph{drawer: d, model: m}
	for _, in := range []port{{"x", x}, {"v", vector}, {"k", integers}, {"b", flag}} {
		m.Input(in.name, in.dtype, in.shape...)
		g.ports = append(g.ports, in)
	}
	for range 4 + pick(24) {
		g.node(3)
	}
	unread := slices.DeleteFunc(slices.Clone(g.ports), func(p port) bool { return d.read[p.name] })
	for i, from := range unread[max(0, len(unread)-maxOutputs):] {
		name := fmt.Sprintf("out%d", i)
		m.Node(d.name("Output"), "Identity", []string{from.name}, []string{name})
		m.Output(name, from.dtype, from.shape...)
	}
	return m
}

// kind is a type of values in a random model.
type kind struct {
	dtype ir.DType
	shape []any
}

// The kinds other than f32[N,4], which is the kind of "x".
var (
	vector   = kind{ir.F32, []any{4}}
	matrix   = kind{ir.F32, []any{3, 4}}
	scalar   = kind{ir.F32, nil}
	integers = kind{ir.I64, []any{4}}
	integer  = kind{ir.I64, nil}
	flag     = kind{ir.Bool, nil}
)

func (k kind) equal(other kind) bool {
	return k.dtype == other.dtype && slices.Equal(k.shape, other.shape)
}

type port struct {
	name string
	kind
}

type drawer struct {
	pick      func(n int) int
	names     int
	read      map[string]bool // values that some node reads
	functions []function
}

const maxOutputs = 12

type function struct {
	name    string
	in, out []kind
}

func (d *drawer) name(what string) string {
	d.names++
	return fmt.Sprintf("%s_%d", what, d.names)
}

func (d *drawer) kind() kind {
	return []kind{vector, matrix, scalar, integers, integer, flag, vector}[d.pick(7)]
}

// tensor returns a random constant of kind k. The extents of k must be numbers, not symbols. In
// half of all constants, the elements are equal.
func (d *drawer) tensor(k kind) *ir.Tensor {
	shape := make([]int, len(k.shape))
	for i, n := range k.shape {
		shape[i] = n.(int)
	}
	t := ir.NewTensor(k.dtype, shape...)
	numbers, same, first := []float64{0, 1, -1, 2, 0.5, -1.25, 3}, d.pick(2) == 0, d.pick(7)
	for i := range t.Len() {
		at := first
		if !same {
			at = (first + i*3) % len(numbers)
		}
		switch v := numbers[at]; k.dtype {
		case ir.F32:
			t.SetFloat(i, v)
		case ir.Bool:
			t.SetInt(i, int64(at%2))
		default:
			t.SetInt(i, int64(v))
		}
	}
	return t
}

func (d *drawer) function(m *Model, name string) {
	g := &graph{drawer: d, model: New(17)}
	f := function{name: name}
	var in, out []string
	for range 1 + d.pick(3) {
		p := port{d.name("arg"), d.kind()}
		f.in, in, g.ports = append(f.in, p.kind), append(in, p.name), append(g.ports, p)
	}
	for range 1 + d.pick(5) {
		g.node(1)
	}
	for range 1 + d.pick(2) {
		p := g.ports[len(g.ports)-1-d.pick(min(3, len(g.ports)))]
		f.out, out = append(f.out, p.kind), append(out, g.apply("Identity", p.kind, p).name)
	}
	m.Function("local", name, in, out, g.model)
	d.functions = append(d.functions, f)
}

type graph struct {
	*drawer
	outer *graph // the graph whose values it may read
	// window lists the values of outer graphs that the graph reads; nil means any.
	window []port
	model  *Model
	ports  []port
}

// seen returns the values that nodes of the graph may read and whose kind satisfies `fits`. The
// graph's own values come last.
func (g *graph) seen(fits func(kind) bool) []port {
	var out []port
	for _, p := range g.window {
		if fits(p.kind) {
			out = append(out, p)
		}
	}
	if g.window == nil && g.outer != nil {
		out = g.outer.seen(fits)
	}
	for _, p := range g.ports {
		if fits(p.kind) {
			out = append(out, p)
		}
	}
	return out
}

// any returns a random value whose kind satisfies `fits`, from this graph or an outer graph. Recent
// values are more likely. ok is false if there is no such value.
func (g *graph) any(fits func(kind) bool) (p port, ok bool) {
	list := g.seen(fits)
	if len(list) == 0 {
		return port{}, false
	}
	return list[len(list)-1-g.pick(min(8, len(list)))], true
}

// of returns a random existing value of a kind, or a new constant.
func (g *graph) of(k kind) port {
	if p, ok := g.any(k.equal); ok && g.pick(6) > 0 {
		return p
	}
	return g.constant(k)
}

func (g *graph) constant(k kind) port {
	if len(k.shape) == 2 && k.shape[0] == "N" {
		return g.apply("Mul", k, g.input(), g.constant(scalar))
	}
	t := g.tensor(k)
	if g.outer == nil && g.inputs() != nil && g.pick(2) == 0 {
		p := port{g.name("weight"), k}
		g.model.Initializer(p.name, t)
		return p
	}
	return g.applyWith("Constant", k, []Attr{{Name: "value", Value: t}})
}

func (g *graph) inputs() []port {
	at := g
	for at.outer != nil {
		at = at.outer
	}
	if len(at.ports) > 0 && at.ports[0].name == "x" {
		return at.ports[:4]
	}
	return nil
}

func (g *graph) input() port { return g.inputs()[0] }

func (g *graph) apply(op string, k kind, args ...port) port {
	return g.applyWith(op, k, nil, args...)
}

func (g *graph) applyWith(op string, k kind, attrs []Attr, args ...port) port {
	return g.applyAll(op, []kind{k}, attrs, args...)[0]
}

func (g *graph) applyAll(op string, kinds []kind, attrs []Attr, args ...port) []port {
	var in, out []string
	for _, a := range args {
		in, g.read[a.name] = append(in, a.name), true
	}
	results := make([]port, len(kinds))
	for i, k := range kinds {
		results[i] = port{g.name("h"), k}
		out = append(out, results[i].name)
	}
	g.model.Node(g.name("/"+op), op, in, out, attrs...)
	g.ports = append(g.ports, results...)
	return results
}

func isFloat(k kind) bool {
	return k.dtype == ir.F32 && (len(k.shape) == 0 || k.shape[len(k.shape)-1] == 4)
}

// node adds one or a few random nodes. `depth` is the maximum nesting of control flow in them.
func (g *graph) node(depth int) {
	choices := 14
	if depth > 0 {
		choices = 20
	}
	switch c := g.pick(choices); c {
	case 0, 1, 2:
		g.float()
	case 3, 4:
		g.binary()
	case 5:
		g.integer()
	case 6:
		g.flag()
	case 7:
		g.move()
	case 8:
		g.reduce()
	case 9:
		if g.pick(2) == 0 {
			g.product()
		} else {
			g.choose()
		}
	case 10, 11, 12:
		g.computed()
	case 13:
		g.call()
	case 14, 15, 16:
		g.branch(depth - 1)
	case 17, 18:
		g.loop(depth - 1)
	case 19:
		g.scan(depth - 1)
	}
}

func (g *graph) float() {
	x, ok := g.any(isFloat)
	if !ok {
		x = g.constant(vector)
	}
	op := []string{"Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Identity", "Softplus", "Reciprocal"}[g.pick(8)]
	if op == "Reciprocal" {
		x = g.apply("Add", x.kind, g.apply("Abs", x.kind, x), g.applyWith("Constant", scalar, []Attr{{Name: "value", Value: ir.Scalar(ir.F32, 1)}}))
	}
	g.apply(op, x.kind, x)
}

func (g *graph) binary() {
	x, ok := g.any(isFloat)
	if !ok {
		x = g.constant(vector)
	}
	y := []func() port{func() port { return g.of(x.kind) }, func() port { return g.of(scalar) }}
	if len(x.shape) > 0 {
		y = append(y, func() port { return g.of(vector) })
	}
	args := []port{x, y[g.pick(len(y))]()}
	if g.pick(2) == 0 {
		slices.Reverse(args)
	}
	op := []string{"Add", "Sub", "Mul", "Max", "Min", "Sub"}[g.pick(6)]
	r := g.apply(op, x.kind, args...)
	if op == "Mul" {
		g.apply("Tanh", r.kind, r)
	}
}

func (g *graph) computed() {
	k := []kind{vector, scalar, matrix}[g.pick(3)]
	switch g.pick(3) {
	case 0:
		from := g.applyWith("Constant", kind{ir.I64, k.shape}, []Attr{{Name: "value", Value: g.tensor(kind{ir.I64, k.shape})}})
		g.applyWith("Cast", k, []Attr{{Name: "to", Value: 1}}, from)
	case 1:
		g.apply("Neg", k, g.constant(k))
	case 2:
		g.apply("Add", k, g.constant(k), g.constant(k))
	}
}

// integer adds arithmetic on integers. The result is taken modulo 7.
func (g *graph) integer() {
	k := []kind{integers, integer}[g.pick(2)]
	r := g.apply([]string{"Add", "Sub", "Mul", "Max", "Min"}[g.pick(5)], k, g.of(k), g.of(k))
	seven := g.applyWith("Constant", integer, []Attr{{Name: "value", Value: ir.Scalar(ir.I64, 7)}})
	r = g.apply("Mod", k, r, seven)
	if g.pick(3) == 0 {
		g.applyWith("Cast", kind{ir.F32, k.shape}, []Attr{{Name: "to", Value: 1}}, r)
	}
}

func (g *graph) flag() { g.condition() }

// condition returns a flag that does not depend on rounding.
func (g *graph) condition() port {
	switch g.pick(5) {
	case 0:
		return g.apply([]string{"Less", "Greater", "Equal"}[g.pick(3)], flag, g.of(integer), g.of(integer))
	case 1:
		return g.apply([]string{"And", "Or", "Xor"}[g.pick(3)], flag, g.of(flag), g.of(flag))
	case 2:
		return g.apply("Not", flag, g.of(flag))
	}
	return g.of(flag)
}

func (g *graph) move() {
	dims := func(n ...int) port {
		t := ir.NewTensor(ir.I64, len(n))
		for i, v := range n {
			t.SetInt(i, int64(v))
		}
		return g.applyWith("Constant", kind{ir.I64, []any{len(n)}}, []Attr{{Name: "value", Value: t}})
	}
	axis := []Attr{{Name: "axis", Value: 0}}
	switch g.pick(6) {
	case 0:
		m := g.of(matrix)
		turned := g.applyWith("Transpose", kind{ir.F32, []any{4, 3}}, []Attr{{Name: "perm", Value: []int{1, 0}}}, m)
		g.apply("Reshape", matrix, turned, dims(3, 4))
	case 1:
		whole := g.applyWith("Concat", kind{ir.F32, []any{8}}, axis, g.of(vector), g.of(vector))
		g.applyAll("Split", []kind{vector, vector}, axis, whole)
	case 2:
		row := ir.NewTensor(ir.I64)
		row.SetInt(0, int64(g.pick(3)))
		at := g.applyWith("Constant", integer, []Attr{{Name: "value", Value: row}})
		g.applyWith("Gather", vector, axis, g.of(matrix), at)
	case 3:
		rows := make([]port, 3)
		for i := range rows {
			rows[i] = g.apply("Unsqueeze", kind{ir.F32, []any{1, 4}}, g.of(vector), dims(0))
		}
		g.applyWith("Concat", matrix, axis, rows...)
	case 4:
		from := g.of(integers)
		at := g.pick(4)
		one := g.apply("Slice", kind{ir.I64, []any{1}}, from, dims(at), dims(at+1))
		g.apply("Squeeze", integer, one, dims(0))
	case 5:
		g.apply("Expand", matrix, g.of(vector), dims(3, 4))
	}
}

func (g *graph) reduce() {
	x, ok := g.any(func(k kind) bool { return isFloat(k) && len(k.shape) > 0 })
	if !ok {
		x = g.constant(matrix)
	}
	k := kind{ir.F32, x.shape[1:]}
	op := []string{"ReduceMean", "ReduceMax", "ReduceL1"}[g.pick(3)]
	g.applyWith(op, k, []Attr{{Name: "axes", Value: []int{0}}, {Name: "keepdims", Value: 0}}, x)
}

func (g *graph) product() {
	x, ok := g.any(func(k kind) bool { return isFloat(k) && len(k.shape) == 2 })
	if !ok {
		x = g.constant(matrix)
	}
	w := ir.NewTensor(ir.F32, 4, 4)
	for i := range 16 {
		w.SetFloat(i, float64((i*7+g.pick(5))%9-4)/8)
	}
	square := kind{ir.F32, []any{4, 4}}
	weights := g.applyWith("Constant", square, []Attr{{Name: "value", Value: w}})
	if g.pick(2) == 0 {
		g.apply("MatMul", x.kind, x, weights)
	} else {
		g.apply("Gemm", x.kind, x, weights, g.of(vector))
	}
}

func (g *graph) choose() {
	k := g.kind()
	g.apply("Where", k, g.condition(), g.of(k), g.of(k))
}

func (g *graph) call() {
	if len(g.functions) == 0 {
		g.float()
		return
	}
	f := g.functions[g.pick(len(g.functions))]
	args := make([]port, len(f.in))
	for i, k := range f.in {
		args[i] = g.of(k)
	}
	g.applyAll("local:"+f.name, f.out, nil, args...)
}

// inner returns a new graph inside of g. Either the graph may read all values that g may read, or
// it may read at most three of them. In the second case, one of the values often depends on
// constants only.
func (g *graph) inner() *graph {
	inner := &graph{drawer: g.drawer, outer: g, model: New(17)}
	if g.pick(3) == 0 {
		return inner
	}
	if g.pick(2) == 0 {
		g.computed()
		inner.window = append(inner.window, g.ports[len(g.ports)-1])
	}
	for range 1 + g.pick(2) {
		if p, ok := g.any(func(kind) bool { return true }); ok {
			inner.window = append(inner.window, p)
		}
	}
	return inner
}

func (g *graph) results(kinds []kind) {
	for _, k := range kinds {
		g.output(g.apply("Identity", k, g.newest(k)))
	}
}

// newest returns a value of kind k, which becomes a result of an inner graph. The value is often an
// existing one that nothing reads yet. Otherwise it is the result of a new operator that combines a
// value of kind k with a second operand. If no value fits as the second operand, newest returns the
// value of kind k.
func (g *graph) newest(k kind) port {
	for _, p := range slices.Backward(g.ports) {
		if p.equal(k) && !g.read[p.name] && g.pick(4) > 0 {
			return p
		}
	}
	ops := []string{"Sub", "Add", "Mul", "Min"}
	switch k.dtype {
	case ir.Bool:
		ops = []string{"Xor", "And"}
	case ir.I64:
		ops = ops[:2]
	}
	x := g.of(k)
	y, ok := g.any(func(other kind) bool { return other.dtype == k.dtype && other.broadcasts(k) })
	if !ok {
		return x
	}
	args := []port{x, y}
	if g.pick(2) == 0 {
		slices.Reverse(args)
	}
	return g.apply(ops[g.pick(len(ops))], k, args...)
}

func (k kind) broadcasts(to kind) bool {
	n := len(to.shape) - len(k.shape)
	return n >= 0 && slices.Equal(k.shape, to.shape[n:])
}

func (g *graph) output(p port) { g.model.Output(p.name, p.dtype, p.shape...) }

func (g *graph) kinds() []kind {
	kinds := make([]kind, []int{1, 1, 1, 2, 3}[g.pick(5)])
	for i := range kinds {
		kinds[i] = g.kind()
		if g.inputs() != nil && g.pick(3) == 0 {
			kinds[i] = g.input().kind
		}
	}
	return kinds
}

func (g *graph) branch(depth int) {
	kinds := g.kinds()
	condition := g.condition()
	attrs := make([]Attr, 2)
	for i, name := range []string{"then_branch", "else_branch"} {
		inner := g.inner()
		for range g.pick(4) {
			inner.node(depth)
		}
		inner.results(kinds)
		attrs[i] = Attr{Name: name, Value: inner.model}
	}
	g.applyAll("If", kinds, attrs, condition)
}

// loop adds a Loop of at most four trips.
func (g *graph) loop(depth int) {
	kinds := g.kinds()
	trips := g.apply("Abs", integer, g.apply("Mod", integer, g.of(integer),
		g.applyWith("Constant", integer, []Attr{{Name: "value", Value: ir.Scalar(ir.I64, 5)}})))
	if g.pick(3) == 0 {
		trips = g.applyWith("Constant", integer, []Attr{{Name: "value", Value: ir.Scalar(ir.I64, float64(g.pick(4)))}})
	}
	args := []port{trips, {}}
	if g.pick(2) == 0 {
		args[1] = g.condition()
	}
	body := g.inner()
	input := func(k kind) port {
		p := port{g.name("in"), k}
		body.model.Input(p.name, p.dtype, p.shape...)
		body.ports = append(body.ports, p)
		return p
	}
	turn, going := input(integer), input(flag)
	for _, k := range kinds {
		args = append(args, g.of(k))
		input(k)
	}
	for range 1 + g.pick(4) {
		body.node(depth)
	}
	next := going
	if g.pick(3) == 0 {
		next = body.apply("Less", flag, turn, body.of(integer))
	}
	body.output(body.apply("Identity", flag, next))
	for _, k := range kinds {
		from := body.newest(k)
		if k.dtype == ir.F32 {
			from = body.apply("Tanh", k, from)
		}
		body.output(body.apply("Identity", k, from))
	}
	var stacked []kind
	if g.pick(2) == 0 {
		body.output(body.apply("Identity", vector, body.newest(vector)))
		stacked = append(stacked, kind{ir.F32, []any{"trips", 4}})
	}
	out := g.applyAll("Loop", append(slices.Clone(kinds), stacked...), []Attr{{Name: "body", Value: body.model}}, args...)
	g.unstack(out[len(kinds):])
}

func (g *graph) scan(depth int) {
	state, rows := g.of(vector), g.of(matrix)
	body := g.inner()
	for range 2 {
		p := port{g.name("in"), vector}
		body.model.Input(p.name, p.dtype, p.shape...)
		body.ports = append(body.ports, p)
	}
	for range 1 + g.pick(4) {
		body.node(depth)
	}
	body.output(body.apply("Tanh", vector, body.newest(vector)))
	body.output(body.apply("Identity", vector, body.newest(vector)))
	g.applyAll("Scan", []kind{vector, matrix}, []Attr{{Name: "body", Value: body.model}, {Name: "num_scan_inputs", Value: 1}}, state, rows)
}

// unstack replaces each of the values `stacked` by its sum along the first axis. The extent of this
// axis is the number of iterations.
func (g *graph) unstack(stacked []port) {
	g.ports = slices.DeleteFunc(g.ports, func(p port) bool {
		return slices.ContainsFunc(stacked, func(s port) bool { return s.name == p.name })
	})
	for _, s := range stacked {
		axes := g.applyWith("Constant", kind{ir.I64, []any{1}}, []Attr{{Name: "value", Value: ir.NewTensor(ir.I64, 1)}})
		g.applyWith("ReduceSum", vector, []Attr{{Name: "keepdims", Value: 0}}, s, axes)
	}
}

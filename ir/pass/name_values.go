package pass

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// nameValues gives all values the names that generated code uses for them. A result of a node gets
// the first of these names that exists:
//
//   - the name of the function's result
//   - the name of the weight, if the node reads only weights
//   - the model's name for the node
//   - the name of the module whose weights the node reads
//   - its present name, unless that is a number
//
// Other results are h1, h2, … in schedule order. Values of regions are p1, t1 and so on, and
// constants c1 and so on. A parameter keeps its name if it has one. A parameter whose name is a
// number gets the common part of the names of its arguments in all calls.
func nameValues(_ *Context, m *ir.Module) (changed bool, err error) {
	calls, namers, order := map[string][]callNames{}, map[*ir.Func]*namer{}, callersFirst(m)
	for _, f := range order {
		n := &namer{f: f, taken: map[string]bool{}, numbers: map[string]int{}, copies: map[string]int{}, origin: map[*ir.Value]string{}}
		namers[f] = n
		changed = n.function(calls[f.Name]) || changed
		for node := range f.All() {
			if o, ok := node.Op.(ir.Invoke); ok {
				c := callNames{args: namesOfValues(node.Args), results: namesOfValues(node.Results)}
				for _, a := range node.Args {
					c.weights = append(c.weights, n.origin[a])
				}
				calls[o.Func] = append(calls[o.Func], c)
			}
		}
	}
	for _, f := range slices.Backward(order) {
		for _, node := range f.Nodes {
			if o, ok := node.Op.(ir.Invoke); ok {
				changed = namers[f].called(node, m.Func(o.Func)) || changed
			}
		}
	}
	return changed, nil
}

// called renames the results of a call whose names are only numbers, such as h12. The new name is
// the path of the module whose weights the function gets, followed by the name of the function's
// result. called reports whether it renamed a result.
func (n *namer) called(node *ir.Node, callee *ir.Func) (changed bool) {
	path := modulePath(n.weights(node), false)
	for i, r := range node.Results {
		if name := callee.Results[i].Name; isNumbered(r.Name) && !isNumbered(name) {
			r.Name, changed = n.unique(ir.Unexported(path+"."+name)), true
		}
	}
	return changed
}

// callNames holds the names of the arguments and the results of a call. weights[i] is the name of
// the weight that args[i] is computed from, or "".
type callNames struct{ args, weights, results []string }

func namesOfValues(values []*ir.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		if v != nil {
			out[i] = v.Name
		}
	}
	return out
}

func callersFirst(m *ir.Module) []*ir.Func {
	var out []*ir.Func
	seen := map[string]bool{}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		if f == nil || seen[f.Name] {
			return
		}
		seen[f.Name] = true
		for n := range f.All() {
			if o, ok := n.Op.(ir.Invoke); ok {
				visit(m.Func(o.Func))
			}
		}
		out = append(out, f)
	}
	for _, f := range slices.Backward(m.Funcs) {
		visit(f)
	}
	slices.Reverse(out)
	return out
}

// weightsPrefix is the beginning of the name of a loaded weight: generated code reads weight x as
// w.x.
const weightsPrefix = "w."

type namer struct {
	f       *ir.Func
	taken   map[string]bool
	numbers map[string]int // the last number used, by the letters before it
	copies  map[string]int // the largest number that was tried after each name
	// origin maps each value that is computed from weights alone to the name of one of these
	// weights.
	origin map[*ir.Value]string
}

func (n *namer) function(calls []callNames) (changed bool) {
	before := n.all()
	for i, p := range n.f.Params {
		if len(calls) > 0 && isNumbered(p.Name) {
			n.parameter(p, calls, i)
		} else {
			p.Name = n.unique(p.Name)
		}
	}
	named := map[*ir.Value]bool{}
	for i, r := range n.f.Results { // before others take their names
		name := n.f.ResultNames[i]
		if len(calls) > 0 && isNumbered(name) {
			name = common(calls, false, func(c callNames) string { return c.results[i] })
			n.f.ResultNames[i] = name
		}
		if name != "" && r.Def != nil && !named[r] {
			r.Name, named[r] = n.unique(ir.Unexported(strings.TrimPrefix(name, rt.PreparedPrefix))), true
		}
	}
	var views []*ir.Node // views share their operands' memory and are named last
	for _, node := range n.f.Nodes {
		n.trace(node)
		if _, ok := node.Op.(ir.Viewer); ok {
			views = append(views, node)
		} else {
			n.node(node, named)
		}
	}
	for _, node := range views {
		n.node(node, named)
	}
	for i, r := range n.f.Results {
		if len(calls) > 0 && n.f.ResultNames[i] == "" {
			n.f.ResultNames[i] = r.Name
		}
	}
	return !slices.Equal(before, n.all())
}

func (n *namer) node(node *ir.Node, named map[*ir.Value]bool) {
	hint := n.hint(node)
	for _, r := range node.Results {
		if !named[r] {
			r.Name = n.result(node, r, hint)
		}
	}
	for _, b := range node.Blocks {
		n.block(b)
	}
}

// parameter sets the name of p, parameter i of a function. The name is the common part of the names
// of the weights that the calls pass for p. If they have no common part, it is the common part of
// the names of the arguments.
func (n *namer) parameter(p *ir.Value, calls []callNames, i int) {
	weight := common(calls, true, func(c callNames) string { return strings.TrimPrefix(c.weights[i], rt.PreparedPrefix) })
	if weight != "" {
		n.origin[p] = weight
		p.Name = n.unique(ir.Unexported(weight))
		return
	}
	p.Name = n.orNumber(common(calls, false, func(c callNames) string { return c.args[i] }), "p")
}

func (n *namer) all() []string {
	names := slices.Concat(namesOfValues(n.f.Params), n.f.ResultNames)
	for node := range n.f.All() {
		names = append(names, namesOfValues(node.Results)...)
	}
	return names
}

func (n *namer) block(b *ir.Block) {
	for _, p := range b.Params {
		p.Name = n.orNumber("", "p")
	}
	for _, node := range b.Nodes {
		for _, inner := range node.Blocks {
			n.block(inner)
		}
		for _, r := range node.Results {
			r.Name = n.orNumber("", "t")
		}
	}
}

func (n *namer) result(node *ir.Node, r *ir.Value, hint string) string {
	switch o := node.Op.(type) {
	case ir.Load:
		return n.unique(weightsPrefix + ir.Unexported(strings.TrimPrefix(o.Name, rt.PreparedPrefix)))
	case ir.Constant:
		return n.orNumber("", "c")
	}
	if hint == "" && !isNumbered(r.Name) {
		hint = ir.Unexported(r.Name)
	}
	return n.orNumber(hint, "h")
}

// trace records the origin of the results of a node. The origin of a loaded weight is its name.
// Other results have the origin of the node's first operand. Their origin is "" if there is no
// operand, or if the origin of an operand is "".
func (n *namer) trace(node *ir.Node) {
	from := ""
	if l, ok := node.Op.(ir.Load); ok {
		from = l.Name
	}
	for _, a := range node.Args {
		if a == nil {
			continue
		}
		if n.origin[a] == "" {
			from = ""
			break
		}
		if from == "" {
			from = n.origin[a]
		}
	}
	for _, r := range node.Results {
		n.origin[r] = from
	}
}

// hint returns a name for a node. It uses the names of the weights that the node reads, or the name
// in the model. It returns "" if there is no such name, or if the node is a call.
func (n *namer) hint(node *ir.Node) string {
	if _, ok := node.Op.(ir.Invoke); ok {
		return ""
	}
	weights := n.weights(node)
	others := len(node.Args) == 0 || slices.ContainsFunc(node.Args, func(a *ir.Value) bool { return a != nil && n.origin[a] == "" })
	first, _, _ := strings.Cut(node.Pos, ", ")
	switch {
	case !others && len(weights) > 0:
		return ir.Unexported(weights[0])
	case first != "" && !isLine(first):
		return ir.Unexported(nodePath(first))
	case len(weights) > 0:
		return ir.Unexported(modulePath(weights, true))
	}
	return ""
}

func (n *namer) weights(node *ir.Node) []string {
	var out []string
	for _, a := range node.Args {
		if a == nil || n.origin[a] == "" || strings.HasPrefix(n.origin[a], rt.ConstPrefix) {
			continue
		}
		out = append(out, strings.TrimPrefix(n.origin[a], rt.PreparedPrefix))
	}
	return out
}

// isLine reports whether the position of a node is a line of a Go file.
func isLine(pos string) bool {
	file, line, ok := strings.Cut(pos, ".go:")
	_, err := strconv.Atoi(line)
	return ok && file != "" && err == nil
}

// nodePath shortens the name of a node. Exporters write the path of modules, followed by the name
// of the operator. nodePath drops the operator if the module's name contains the operator's name,
// or is contained in it. It drops a module if the next module's name begins with it:
// "layer/layer.0" becomes "layer.0".
func nodePath(name string) string {
	parts := strings.FieldsFunc(name, func(c rune) bool { return c == '/' })
	var path []string
	for i, p := range parts {
		if i+1 < len(parts) && strings.HasPrefix(parts[i+1], p+".") {
			continue
		}
		if i > 0 && i+1 == len(parts) && isRepeated(parts[i-1], p) {
			continue
		}
		path = append(path, p)
	}
	return strings.Join(path, "/")
}

// isRepeated compares two names: the last part of a module's path, and the name of an operator. It
// reports whether one of them contains the other. It ignores case, and numbers at the ends of the
// names. Names of a single letter do not count.
func isRepeated(module, operator string) bool {
	letters := func(s string) string {
		return strings.ToLower(strings.TrimRight(s[strings.LastIndexByte(s, '.')+1:], "_0123456789"))
	}
	m, o := letters(module), letters(operator)
	return len(m) > 1 && len(o) > 1 && (strings.Contains(o, m) || strings.Contains(m, o))
}

// modulePath returns the path of the module that the weights belong to. The path is the common
// beginning of their names, without the last part, which names the weight itself. It returns "" if
// there is no common beginning. If `one` is set, modulePath ignores a weight whose name begins
// differently from the path so far.
func modulePath(weights []string, one bool) string {
	var path []string
	for i, w := range weights {
		parts := strings.FieldsFunc(w, func(c rune) bool { return c == '.' || c == '/' })
		if last := len(parts) - 1; last > 1 && strings.Trim(parts[last], "0123456789") == "" {
			parts = parts[:last] // a number behind the name, as of another form of a weight
		}
		if len(parts) > 1 {
			parts = parts[:len(parts)-1]
		}
		if i == 0 {
			path = parts
			continue
		}
		if k := alike(path, parts); k > 0 || !one {
			path = path[:k]
		}
	}
	return strings.Join(path, ".")
}

// common returns the common part of the names that nameOf returns for all calls. If path is set, it
// is the longest end that all names share: "weight" for h.0.weight and h.1.weight. Otherwise names
// are divided before their capital letters, and it is the common beginning followed by the common
// end. common returns "" if there is no common part, or if a name is only a number; see
// [isNumbered].
func common(calls []callNames, path bool, nameOf func(callNames) string) string {
	var begin, end []string
	shortest := math.MaxInt
	for k, c := range calls {
		name := strings.TrimPrefix(nameOf(c), weightsPrefix)
		if isNumbered(name) {
			return ""
		}
		parts := syllables(name)
		if path {
			parts = strings.Split(name, ".")
		}
		if k == 0 {
			begin, end = parts, parts
		}
		begin = begin[:alike(begin, parts)]
		end = end[len(end)-alike(reversed(end), reversed(parts)):]
		shortest = min(shortest, len(parts))
	}
	if path {
		return strings.Join(end, ".")
	}
	end = end[max(0, len(begin)+len(end)-shortest):]
	name := strings.Join(slices.Concat(begin, end), "")
	if isNumbered(name) {
		return ""
	}
	return ir.Unexported(name)
}

func alike[T comparable](a, b []T) int {
	k := 0
	for k < min(len(a), len(b)) && a[k] == b[k] {
		k++
	}
	return k
}

func reversed(list []string) []string {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// syllables splits an identifier before each capital: "layerNorm" into "layer" and "Norm".
func syllables(name string) []string {
	var out []string
	start := 0
	for i := 1; i < len(name); i++ {
		if 'A' <= name[i] && name[i] <= 'Z' {
			out, start = append(out, name[start:i]), i
		}
	}
	return append(out, name[start:])
}

// isNumbered reports whether a name is empty or only a number. A number is h, p or t, alone or
// followed by digits and points, such as h12, p3 or h36.4.
func isNumbered(name string) bool {
	return name == "" || strings.Contains("hpt", name[:1]) && strings.Trim(name[1:], "0123456789.") == ""
}

func (n *namer) orNumber(hint, letters string) string {
	if hint != "" {
		return n.unique(hint)
	}
	for {
		n.numbers[letters]++
		if name := letters + strconv.Itoa(n.numbers[letters]); !n.taken[name] {
			return n.unique(name)
		}
	}
}

// unique returns `name`, or `name` with a number if `name` is taken. It marks the returned name as
// taken. It returns "" for "", because inputs and outputs of a model may have no name.
func (n *namer) unique(name string) string {
	if name == "" {
		return ""
	}
	out, between := name, ""
	if last := name[len(name)-1]; '0' <= last && last <= '9' {
		between = "_"
	}
	for n.taken[out] {
		n.copies[name] = max(n.copies[name], 1) + 1
		out = name + between + strconv.Itoa(n.copies[name])
	}
	n.taken[out] = true
	return out
}

package op

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Custom is an operator that a Go function of the user computes. burngen knows only its type: it does not evaluate
// or move the operator. Only a program that describes a model has the function, see [Local].
type Custom struct {
	// Name is the name in the model: "com.acme.Foo".
	Name string
	// Func is the Go function, a func(*rt.Call) error: "example.com/ops.Foo".
	Func string
	// Type is the declared type, an [ir.Signature]. Operands bind its symbols; the function decides
	// symbols that occur only in results.
	Type  string
	Attrs []ir.Attribute // attributes of the node in the model
	// Extents binds the symbols that the function decides, in the order of their first occurrences
	// in the results.
	Extents []ir.ResultExtent
	// Gradient is the function of the module that computes the gradients. If it is empty, the Go
	// function does whose name is Func followed by "Grad". [Custom.Link] checks its type.
	Gradient string

	local *Local
}

// NewCustom returns a custom operator whose name is the name of its Go function, fn. typ is the declared type. The
// function may decide extents of its results. For the symbol of such an extent, `name` must return a similar symbol
// that is not used yet. NewCustom returns an error if fn has no importable name, or if the type is not valid.
func NewCustom(fn, typ string, attrs []ir.Attribute, name func(symbol string) string) (Custom, error) {
	op := Custom{Name: fn, Func: fn, Type: typ, Attrs: attrs}
	s, err := op.signature()
	if err != nil {
		return Custom{}, err
	}
	op.Type, op.Extents = s.String(), named(s, name)
	return op, nil
}

// ParseCustom parses the declaration of a custom operator, such as "com.acme.Foo=example.com/ops.Foo: (f32[N]) ->
// f32[N]". The domain "ai.onnx" may be omitted. ParseCustom returns an error if the declaration is not valid.
func ParseCustom(text string) (Custom, error) {
	name, rest, ok := strings.Cut(text, "=")
	fn, typ, typed := strings.Cut(rest, ":")
	if !ok || !typed {
		return Custom{}, fmt.Errorf("OPERATOR=PACKAGE.FUNC: (TYPE, …) -> TYPE expected")
	}
	op := Custom{Name: strings.TrimPrefix(strings.TrimSpace(name), "ai.onnx."), Func: strings.TrimSpace(fn), Type: strings.TrimSpace(typ)}
	if op.Name == "" || strings.HasPrefix(op.Name, ".") || strings.HasSuffix(op.Name, ".") || strings.ContainsAny(op.Name, " \t:") {
		return Custom{}, fmt.Errorf("%q names no operator", op.Name)
	}
	s, err := op.signature()
	if err != nil {
		return Custom{}, err
	}
	op.Type = s.String()
	return op, nil
}

// String returns the declaration in the syntax of [ParseCustom].
func (op Custom) String() string { return op.Name + "=" + op.Func + ": " + op.Type }

// Domain returns the two parts of the operator's name: the domain, and the name within the domain. For an operator of
// ai.onnx, domain is "".
func (op Custom) Domain() (domain, name string) {
	i := strings.LastIndexByte(op.Name, '.')
	return op.Name[:max(i, 0)], op.Name[i+1:]
}

// Package returns the two parts of Func: the import path of the package, and the function's name.
func (op Custom) Package() (path, name string) {
	i := strings.LastIndexByte(op.Func, '.')
	return op.Func[:max(i, 0)], op.Func[i+1:]
}

// checkFunc returns an error unless Func is the name of an exported function in an importable package.
func (op Custom) checkFunc() error {
	path, name := op.Package()
	if !token.IsIdentifier(name) || !token.IsExported(name) {
		return fmt.Errorf("%q names no exported function of a package", op.Func)
	}
	for element := range strings.SplitSeq(path, "/") {
		odd := strings.ContainsFunc(element, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~+", r))
		})
		if odd || element == "" || element[0] == '.' || path == "C" || path == "unsafe" || path == "main" {
			return fmt.Errorf("%q is not an import path", path)
		}
	}
	return nil
}

// signature returns the declared type. It returns an error unless all types are tensors. Every symbol of an operand
// must also be an extent by itself in some operand: N, not 2·N. A symbol that is only in results must always be an
// extent by itself.
func (op Custom) signature() (ir.Signature, error) {
	none := ir.Signature{}
	if err := op.checkFunc(); err != nil {
		return none, err
	}
	s, err := ir.ParseSignature(op.Type)
	if err != nil {
		return none, fmt.Errorf("type %q: %w", op.Type, err)
	}
	if len(s.Results) == 0 {
		return none, fmt.Errorf("type %q: a result is missing", op.Type)
	}
	for i, t := range slices.Concat(s.Params, s.Results) {
		if err := t.Check(); err != nil {
			return none, fmt.Errorf("type %q: %s: %w", op.Type, t, err)
		}
		if !t.IsTensor() {
			return none, fmt.Errorf("type %q: %s is not a tensor", op.Type, t)
		}
		for _, d := range t.Shape {
			for _, symbol := range d.Symbols() {
				switch {
				case symbol == dim.Any.String():
					return none, fmt.Errorf("type %q: an extent has no name: ?", op.Type)
				case hasExtent(s.Params, symbol):
				case i < len(s.Params):
					return none, fmt.Errorf("type %q: no extent of an operand is %s itself", op.Type, symbol)
				case d.String() != symbol:
					return none, fmt.Errorf("type %q: extent %s: the function decides %s, which has to stand alone", op.Type, d, symbol)
				}
			}
		}
	}
	return s, nil
}

func hasExtent(types []ir.Type, symbol string) bool {
	return slices.ContainsFunc(types, func(t ir.Type) bool {
		return slices.ContainsFunc(t.Shape, func(d dim.Dim) bool { return d.String() == symbol })
	})
}

// decided returns the symbols that are in results of s but not in its parameters, so that the function decides
// them. For each symbol it gives the first result and axis with this extent.
func decided(s ir.Signature) []ir.ResultExtent {
	var out []ir.ResultExtent
	for i, t := range s.Results {
		for k, d := range t.Shape {
			e := ir.ResultExtent{Symbol: d.String(), Result: i, Axis: k}
			known := slices.ContainsFunc(out, func(o ir.ResultExtent) bool { return o.Symbol == e.Symbol })
			if slices.Contains(d.Symbols(), e.Symbol) && !known && !hasExtent(s.Params, e.Symbol) {
				out = append(out, e)
			}
		}
	}
	return out
}

// named returns what [decided] returns, with each symbol replaced by name(symbol).
func named(s ir.Signature, name func(symbol string) string) []ir.ResultExtent {
	extents := decided(s)
	for i := range extents {
		extents[i].Symbol = name(extents[i].Symbol)
	}
	return extents
}

// Decided returns the operator after its Go function has decided the extents of the results. In the declared type of
// the new operator, the actual extents replace the symbols. `results` are the actual types of the results.
func (op Custom) Decided(results []ir.Type) (Custom, error) {
	s, err := op.signature()
	if err != nil {
		return Custom{}, err
	}
	symbols := map[string]dim.Dim{}
	for i, e := range decided(s) {
		r := op.Extents[i]
		symbols[e.Symbol] = results[r.Result].Shape[r.Axis]
	}
	for i, t := range s.Results {
		s.Results[i] = t.Subst(func(symbol string) (dim.Dim, bool) { d, ok := symbols[symbol]; return d, ok })
	}
	op.Type, op.Extents = s.String(), nil
	return op, nil
}

// Infer returns the declared types of the results, with symbols replaced by the extents of the
// operands. It returns an error if the operands do not have the declared types.
func (op Custom) Infer(in []ir.Type) ([]ir.Type, error) {
	s, err := op.signature()
	if err != nil {
		return nil, err
	}
	if err := CheckOperands(in, len(s.Params), len(s.Params)); err != nil {
		return nil, err
	}
	symbols := map[string]dim.Dim{}
	env := func(symbol string) (dim.Dim, bool) { d, ok := symbols[symbol]; return d, ok }
	for i, p := range s.Params {
		if !in[i].IsTensor() || in[i].DType != p.DType || in[i].Rank() != p.Rank() {
			return nil, fmt.Errorf("operand %d is %s, declared as %s", i, in[i], p)
		}
		for k, d := range p.Shape {
			if _, known := symbols[d.String()]; !known && slices.Contains(d.Symbols(), d.String()) {
				symbols[d.String()] = in[i].Shape[k]
			}
		}
	}
	for i, p := range s.Params {
		for k, d := range p.Shape {
			if err := Same(in[i].Shape[k], d.Subst(env), fmt.Sprintf("operand %d, axis %d, declared as %s", i, k, d)); err != nil {
				return nil, err
			}
		}
	}
	own := decided(s)
	if len(op.Extents) != len(own) {
		return nil, fmt.Errorf("%d extents, %d expected", len(op.Extents), len(own))
	}
	for i, e := range own {
		if op.Extents[i].Result != e.Result || op.Extents[i].Axis != e.Axis {
			return nil, fmt.Errorf("extent %d does not belong to result %d, axis %d", i, e.Result, e.Axis)
		}
		symbols[e.Symbol] = dim.Sym(op.Extents[i].Symbol)
	}
	out := make([]ir.Type, len(s.Results))
	for i, r := range s.Results {
		out[i] = r.Subst(env)
	}
	return out, nil
}

// IsOpaque marks the operator as computed by the user's program.
func (Custom) IsOpaque() {}

// Absent returns an error that says that only generated code calls the function.
func (op Custom) Absent() error {
	return fmt.Errorf("custom operator %s: only generated code calls %s", op.Name, op.Func)
}

// Symbols returns the symbols in the declared type that the function decides. They correspond to Extents, which may
// have other names for them.
func (op Custom) Symbols() []string {
	s, err := op.signature()
	if err != nil {
		return nil
	}
	return ir.Invoke{Extents: decided(s)}.Binds()
}

// Binds returns the symbols of Extents.
func (op Custom) Binds() []string { return ir.Invoke{Extents: op.Extents}.Binds() }

// BindValues returns the values of the symbols in Extents, which are extents of the results.
func (op Custom) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return ir.Invoke{Extents: op.Extents}.BindValues(nil, out)
}

// Import appends a node of the operator. c has the operands and attributes of the node.
func (op Custom) Import(c ir.Importer) ([]*ir.Value, error) {
	s, err := op.signature()
	if err != nil {
		return nil, err
	}
	args := make([]*ir.Value, c.NumArgs())
	for i := range args {
		args[i] = c.Arg(i)
	}
	op.Attrs = c.Attributes()
	op.Extents = named(s, c.Builder().Symbol)
	return c.Builder().Nodes(op, args...), nil
}

// IsStatistic returns false: no operand is a running statistic.
func (Custom) IsStatistic(int) bool { return false }

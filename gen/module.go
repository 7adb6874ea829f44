package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/rt"
)

// FromModule compiles a module that is not in a file. name is the name of the model. Each function of the module
// becomes a method with its own arguments and results. Functions that other functions call, or that compute gradients
// of custom operators, do not become methods. If the only method is of the function "forward", it is the same as in a
// package of a model file. FromModule returns an error if a weight has no data or if there are no functions, and the
// errors of [CompileSource]. Inputs, Dims and Outputs in o have no effect.
func FromModule(name string, m *ir.Module, o Options) (*Model, error) {
	for _, w := range m.Weights {
		if w.Data == nil {
			return nil, fmt.Errorf("%s: weight %q has no data", name, w.Name)
		}
	}
	src := SourceOf(name, m)
	if len(src.Functions) == 0 {
		return nil, fmt.Errorf("%s: the module has no function @%s", name, pass.Forward)
	}
	return CompileSource(src, o)
}

// SourceOf converts a module that is not in a file to a source; see [FromModule].
func SourceOf(name string, m *ir.Module) *Source {
	sum := sha256.Sum256([]byte(m.String()))
	src := &Source{
		Name:      name,
		File:      name + ".ir",
		Sum:       hex.EncodeToString(sum[:]),
		Format:    opsetsText(nil),
		Meta:      rt.Meta{Name: name, Source: name + ".ir"},
		Module:    m,
		Operators: map[string]int{},
	}
	called := grad.Named(m)
	for _, f := range m.Funcs {
		for n := range f.All() {
			if o, ok := n.Op.(ir.Invoke); ok {
				called[o.Func] = true
			}
		}
	}
	for _, f := range m.Funcs {
		if called[f.Name] {
			continue
		}
		method := MethodName(f.Name)
		src.Functions = append(src.Functions, Function{Name: f.Name, Method: method, Outputs: method + "Result", Direct: true})
	}
	if len(src.Functions) == 1 && src.Functions[0].Name == pass.Forward {
		src.Functions[0] = forward
	}
	src.describe()
	return src
}

func (s *Source) describe() {
	if len(s.Functions) == 0 {
		return
	}
	f := s.Func()
	s.Nodes = len(f.Nodes)
	for _, n := range f.Nodes {
		s.Operators[ir.OpName(n.Op)]++
	}
	states := s.Functions[0].States
	for _, p := range f.Params {
		if slices.Contains(states, p.Name) {
			s.Meta.States = append(s.Meta.States, port(p.Name, p.Type))
		} else {
			s.Meta.Inputs = append(s.Meta.Inputs, port(p.Name, p.Type))
		}
	}
	for i, r := range f.Results {
		if !slices.Contains(states, f.ResultNames[i]) {
			s.Meta.Outputs = append(s.Meta.Outputs, port(f.ResultNames[i], r.Type))
		}
	}
}

// MethodName returns the Go method name for a function of a module: its snake-case name in camel
// case.
func MethodName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func port(name string, t ir.Type) rt.Port {
	p := rt.Port{Name: name, DType: t.DType.String(), Shape: []string{}}
	for _, d := range t.Shape {
		p.Shape = append(p.Shape, d.String())
	}
	return p
}

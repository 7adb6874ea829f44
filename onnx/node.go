package onnx

import (
	"fmt"
	"runtime"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// maxInlined bounds the nodes that model-local functions expand to, and
// maxCalls how deep their calls nest.
const (
	maxInlined = 1 << 18
	maxCalls   = 64
)

// node imports one node: through its function's body when the model defines
// one, else through the table.
func (im *importer) node(s *scope, b *ir.Builder, n *wire.Node, i int) {
	fail := func(format string, args ...any) {
		im.problems.add("%s (%s-%s): %s", label(s, n, i), qualified(n), im.versionText(s, n), fmt.Sprintf(format, args...))
		for _, o := range n.Outputs {
			if o != "" {
				s.failed[o] = true
			}
		}
	}
	skip := func() {
		for _, o := range n.Outputs {
			s.failed[o] = true
		}
	}
	args := make([]*ir.Value, len(n.Inputs))
	for j, name := range n.Inputs {
		if name == "" || s.omitted[name] {
			continue
		}
		var v *ir.Value
		var err error
		if e := ir.Try(func() { v, err = im.value(s, b, name) }); e != nil {
			err = e
		}
		if err != nil {
			fail("%v", err)
			return
		}
		if v == nil {
			skip()
			return
		}
		args[j] = v
	}
	var results []*ir.Value
	var err error
	key := functionKey{domainName(n.Domain), n.OpType, n.Overload}
	b.At(s.prefix + nameOf(n))
	if f := im.functions[key]; f != nil {
		results, err = im.inline(s, b, n, f, key, args)
		if err == nil && results == nil {
			skip()
			return
		}
	} else {
		results, err = im.apply(s, b, n, args)
	}
	if err == nil && len(results) < wanted(n) {
		err = fmt.Errorf("%d outputs, it has %d", wanted(n), len(results))
	}
	if err != nil {
		fail("%v", err)
		return
	}
	for j, o := range n.Outputs {
		if o == "" || j >= len(results) {
			continue
		}
		v := results[j]
		if v == nil {
			fail("output %q is not supported", o)
			return
		}
		if isNew(v) {
			named(b, v, s.prefix+o)
		}
		s.values[o] = v
	}
}

// isNew reports whether a value has the name a builder made up, and no other.
func isNew(v *ir.Value) bool {
	if v.Def == nil || len(v.Name) < 1 || v.Name[0] != 'h' {
		return false
	}
	for i := 1; i < len(v.Name); i++ {
		if v.Name[i] < '0' || v.Name[i] > '9' {
			return false
		}
	}
	return true
}

// wanted returns how many results a node's outputs need.
func wanted(n *wire.Node) int {
	for i := len(n.Outputs); i > 0; i-- {
		if n.Outputs[i-1] != "" {
			return i
		}
	}
	return 0
}

// versionText returns the version of a node's operator for messages.
func (im *importer) versionText(s *scope, n *wire.Node) string {
	opset := s.opsets[domainName(n.Domain)]
	if r := rules[ruleName(domainName(n.Domain), n.OpType)]; r != nil {
		if v := since(r, opset); v > 0 {
			return fmt.Sprint(v)
		}
	}
	return fmt.Sprint(opset)
}

// apply imports a node by the operator's rule.
func (im *importer) apply(s *scope, b *ir.Builder, n *wire.Node, args []*ir.Value) (results []*ir.Value, err error) {
	domain := domainName(n.Domain)
	var run func(ir.Importer) ([]*ir.Value, error)
	opset, imported := s.opsets[domain]
	if r := rules[ruleName(domain, n.OpType)]; r != nil {
		if !imported {
			return nil, fmt.Errorf("the model imports no opset of domain %q", n.Domain)
		}
		if since(r, opset) == 0 {
			return nil, fmt.Errorf("not in opset %d: it came with %d", opset, r.Since[0])
		}
		run = r.Import
	} else if im.options.Custom != nil {
		if custom, ok := im.options.Custom(domain, n.OpType); ok {
			run = custom
		}
	}
	if run == nil {
		if domain != "" {
			return nil, fmt.Errorf("unknown operator; name a Go function with -custom '%s=…'", qualified(n))
		}
		return nil, fmt.Errorf("unknown operator")
	}
	c := &call{im: im, scope: s, b: b, node: n, opset: opset, args: args, asked: map[string]bool{}}
	defer func() {
		if e, ok := recover().(runtime.Error); ok {
			err = fmt.Errorf("its operands or attributes do not fit: %v", e)
		}
	}()
	if e := ir.Try(func() {
		if err = c.prepare(); err == nil {
			results, err = run(c)
		}
	}); e != nil {
		err = e
	}
	if err == nil {
		err = c.unasked()
	}
	return results, err
}

// inline imports the body of a model-local function in the node's place. It
// returns nil results when a problem inside was reported.
func (im *importer) inline(s *scope, b *ir.Builder, n *wire.Node, f *wire.Function, key functionKey, args []*ir.Value) ([]*ir.Value, error) {
	depth := 0
	for at := s; at != nil; at = at.outer {
		if at.function != nil && *at.function == key {
			return nil, fmt.Errorf("function calls itself")
		}
		depth++
	}
	if depth > maxCalls {
		return nil, fmt.Errorf("functions call each other deeper than %d", maxCalls)
	}
	if im.inlined += len(f.Nodes); im.inlined > maxInlined {
		return nil, fmt.Errorf("functions expand to more than %d nodes", maxInlined)
	}
	if len(args) > len(f.Inputs) {
		return nil, fmt.Errorf("%d inputs, the function has %d", len(args), len(f.Inputs))
	}
	inner := im.newScope(nil, &wire.Graph{})
	inner.opsets = im.opsets(f.Opsets)
	inner.prefix = s.prefix + nameOf(n) + "/"
	inner.function = &key
	inner.attrs = map[string]*wire.Attr{}
	inner.outer = &scope{function: s.function, outer: callers(s)}
	for i := range f.Defaults {
		inner.attrs[f.Defaults[i].Name] = &f.Defaults[i]
	}
	for i := range n.Attrs {
		a, err := resolve(&n.Attrs[i], s)
		if err != nil {
			return nil, err
		}
		if a != nil {
			inner.attrs[n.Attrs[i].Name] = a
		}
	}
	for _, name := range f.Required {
		if inner.attrs[name] == nil {
			return nil, fmt.Errorf("attribute %q of the function is missing", name)
		}
	}
	for i, name := range f.Inputs {
		if i < len(args) && args[i] != nil {
			inner.values[name] = args[i]
		} else {
			inner.absent(name)
		}
	}
	before := len(im.problems.errs) + im.problems.more
	im.nodes(inner, b, f.Nodes, false)
	b.At(s.prefix + nameOf(n))
	if len(im.problems.errs)+im.problems.more > before {
		return nil, nil
	}
	var results []*ir.Value
	for _, name := range f.Outputs {
		v := inner.values[name]
		if v == nil {
			return nil, fmt.Errorf("output %q of the function is not defined", name)
		}
		results = append(results, v)
	}
	return results, nil
}

// callers returns a chain of scopes that holds nothing but the functions being
// inlined, so that a function's body sees no names of its caller.
func callers(s *scope) *scope {
	if s.outer == nil {
		return nil
	}
	return &scope{function: s.outer.function, outer: callers(s.outer)}
}

// absent notes an input that the caller leaves out: reading it is reading an
// absent operand.
func (s *scope) absent(name string) {
	if s.omitted == nil {
		s.omitted = map[string]bool{}
	}
	s.omitted[name] = true
}

// resolve returns an attribute's value, looked up in the function's caller when
// it refers to one; nil when the caller does not give it.
func resolve(a *wire.Attr, s *scope) (*wire.Attr, error) {
	if a.Ref == "" {
		return a, nil
	}
	if s.function == nil {
		return nil, fmt.Errorf("attribute %q refers to %q of a function, outside one", a.Name, a.Ref)
	}
	return s.attrs[a.Ref], nil
}

package onnx

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// node imports node n. i is the index of n in its graph or function. If the model defines n's
// operator as a function, node imports the body of that function. Otherwise it calls the import
// function that [importer.rule] finds.
func (im *importer) node(s *scope, n *wire.Node, i int) {
	results, err := im.results(s, n, i)
	switch {
	case errors.Is(err, errReported):
		s.fail(n)
		return
	case err != nil:
		im.nodeProblem(s, n, i, "%v", err)
		s.fail(n)
		return
	}
	for j, o := range n.Outputs {
		if o == "" {
			continue
		}
		if isNew(results[j]) {
			named(s.builder, results[j], s.call.prefix+o)
		}
		s.values[o] = results[j]
	}
}

func (im *importer) results(s *scope, n *wire.Node, i int) (results []*ir.Value, err error) {
	args, err := im.args(s, n)
	if err != nil {
		return nil, err
	}
	key := functionKey{domainName(n.Domain), n.OpType, n.Overload}
	s.at(n)
	if f := im.functions[key]; f != nil {
		results, err = im.inline(s, n, i, f, args)
	} else {
		results, err = im.apply(s, n, i, args)
	}
	if err != nil {
		return nil, err
	}
	for j, o := range n.Outputs {
		switch {
		case o == "":
		case j >= len(results):
			return nil, fmt.Errorf("output %d: the operator has %d", j, len(results))
		case results[j] == nil:
			return nil, fmt.Errorf("output %d (%s) is not supported", j, quote(o))
		}
	}
	return results, nil
}

// args returns the operands of node n. A missing operand is nil.
func (im *importer) args(s *scope, n *wire.Node) ([]*ir.Value, error) {
	args := make([]*ir.Value, len(n.Inputs))
	for i, name := range n.Inputs {
		if name == "" {
			continue
		}
		var err error
		if failed := ir.Try(func() { args[i], err = im.value(s, name) }); failed != nil {
			err = failed
		}
		if err != nil {
			return nil, err
		}
	}
	return args, nil
}

func (s *scope) at(n *wire.Node) { s.builder.At(shorten(s.call.prefix+nameOf(n), maxName)) }

// maxName is the maximum length in bytes of a value's name and of a node's position. Longer texts
// are shortened, because the text form of the IR repeats them at each use.
const maxName = 256

// named names the new value v after `name`, which is the value's name in the model. It returns v.
func named(b *ir.Builder, v *ir.Value, name string) *ir.Value {
	v.Name = b.Name(shorten(name, maxName))
	return v
}

// isNew reports whether v still has the name that the builder gave it: h and a number.
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

// label returns the text that identifies node n in messages. It consists of i, the index of n in
// its graph or function, and of the node's name, first output or operator.
func label(n *wire.Node, i int) string { return "node " + strconv.Itoa(i) + " " + quote(nameOf(n)) }

func nameOf(n *wire.Node) string {
	if n.Name != "" {
		return n.Name
	}
	for _, o := range n.Outputs {
		if o != "" {
			return o
		}
	}
	return n.OpType
}

func qualified(n *wire.Node) string {
	if d := domainName(n.Domain); d != "" {
		return d + "." + n.OpType
	}
	return n.OpType
}

func (im *importer) place(s *scope, n *wire.Node, i int) string {
	version := ""
	opset, ok := s.call.opset(domainName(n.Domain))
	if r := rules[ruleName(domainName(n.Domain), n.OpType)]; r != nil && since(r, opset) > 0 {
		opset = since(r, opset)
	}
	if ok {
		version = "-" + strconv.Itoa(opset)
	}
	return fmt.Sprintf("%s%s (%s%s): ", s.where, label(n, i), plain(qualified(n)), version)
}

// inside returns a prefix for messages about nodes that are inside node n: nodes of its graphs, or
// of the function that it calls. The prefix says where n is in the model, and ends with `context`,
// which may be "". i is the index of n in its own graph. A prefix of more than maxLine/2 bytes is
// shortened in the middle.
func (im *importer) inside(s *scope, n *wire.Node, i int, context string) string {
	place := im.place(s, n, i) + context
	if len(place) > maxLine/2 {
		place = shorten(place, maxLine/2)
	}
	return place
}

type reportKey struct {
	function *function
	node     *wire.Node
	text     string
}

// nodeProblem reports a problem with node n. i is the index of n in its graph or function. A
// problem in the body of a function is reported only once, even if the function is called several
// times.
func (im *importer) nodeProblem(s *scope, n *wire.Node, i int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.call.function != nil {
		key := reportKey{s.call.function, n, text}
		if im.reported[key] {
			return
		}
		if len(im.reported) < maxKept {
			im.reported[key] = true
		}
	}
	if s.outer == nil && s.call.function == nil {
		im.problems.at = i
	}
	im.problems.add("%s%s", im.place(s, n, i), text)
}

// rules maps the names of operators to import rules. A name includes the operator's domain, as in
// [ruleName].
var rules = func() map[string]*op.Rule {
	m := map[string]*op.Rule{}
	for i := range op.ONNX {
		m[op.ONNX[i].Name] = &op.ONNX[i]
	}
	return m
}()

func ruleName(domain, name string) string {
	if domain == "" {
		return name
	}
	return domain + ":" + name
}

// since returns the version of a rule that applies to an opset. It returns 0 if there is no such
// version.
func since(r *op.Rule, opset int) int {
	v := 0
	for _, s := range r.Since {
		if s <= opset {
			v = max(v, s)
		}
	}
	return v
}

func (im *importer) rule(s *scope, n *wire.Node) (run CustomOp, opset int, err error) {
	domain := domainName(n.Domain)
	opset, imported := s.call.opset(domain)
	if r := rules[ruleName(domain, n.OpType)]; r != nil {
		switch {
		case !imported && domain == "":
			return nil, 0, errors.New("the model imports no version of ONNX's operators")
		case !imported:
			im.warn(domain, "", "the model imports no opset of domain %s: the newest is taken", quote(n.Domain))
			return r.Import, r.Since[len(r.Since)-1], nil
		case since(r, opset) == 0:
			return nil, 0, fmt.Errorf("not in opset %d: it came with %d", opset, r.Since[0])
		}
		return r.Import, opset, nil
	}
	if im.options.Custom != nil {
		if run, ok := im.options.Custom(domain, n.OpType); ok {
			return run, opset, nil
		}
	}
	if domain == "" {
		return nil, 0, errors.New("unknown operator")
	}
	return nil, 0, fmt.Errorf("unknown operator; name a Go function with -custom '%s=…'", plain(qualified(n)))
}

func (im *importer) apply(s *scope, n *wire.Node, i int, args []*ir.Value) (results []*ir.Value, err error) {
	run, opset, err := im.rule(s, n)
	if err != nil {
		return nil, err
	}
	c := &call{im: im, scope: s, node: n, index: i, opset: opset, args: args, asked: map[string]bool{}, absent: -1}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			results, err = nil, c.unfit()
		default:
			panic(e)
		}
	}()
	failed := ir.Try(func() {
		if err = c.prepare(); err != nil {
			return
		}
		if v := c.largeConstant(); v != nil {
			results = []*ir.Value{v}
			return
		}
		results, err = run(c)
	})
	if failed != nil {
		err = failed
	}
	if err == nil {
		err = c.unasked()
	}
	return results, err
}

// Package support knows which ONNX operators burngen compiles, and what becomes of
// those in a model: how many nodes there are of each, the element types they work
// on, the operators of the IR they are imported as, and whether assembly computes
// them. It does not know how any of this is shown.
package support

import (
	"slices"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
)

//go:generate go run ./internal/assembly

// Operator is an operator that can be imported.
type Operator struct {
	// Domain is "ai.onnx" or that of an extension.
	Domain, Name string
	// Versions are the opsets at which the definition changed.
	Versions []int
}

// Operators lists the operators that can be imported, by domain and name.
func Operators() []Operator {
	var out []Operator
	for _, r := range op.ONNX {
		domain, name, ok := strings.Cut(r.Name, ":")
		if !ok {
			domain, name = "ai.onnx", r.Name
		}
		out = append(out, Operator{domain, name, r.Since})
	}
	slices.SortFunc(out, func(a, b Operator) int {
		if a.Domain != b.Domain {
			return strings.Compare(a.Domain, b.Domain)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// CPU says what computes an operator.
type CPU string

// What computes an operator.
const (
	Assembly CPU = "assembly" // in f32, on the machines that have it
	Plain    CPU = "Go"       // plain Go everywhere
	Own      CPU = "custom"   // a function of the user's program
	None     CPU = ""         // nothing: it is folded, or a view of memory
)

// Use is what a model uses an operator for.
type Use struct {
	onnx.Node
	Count int        // of nodes
	Types []ir.DType // of the nodes' operands and results, where they are known
	IR    []string   // the operators that the nodes are imported as
	CPU   CPU        // of the nodes and of others fused with them
}

// Uses returns the operators of a model's graph, nodes being those of its file, by
// name. Without a model, as when it cannot be compiled, they are counted only.
func Uses(nodes []onnx.Node, m *gen.Model) []Use {
	index := map[string]int{} // of names in uses
	var uses []Use
	users := map[string][]int{} // by the names of nodes
	for _, n := range nodes {
		i, ok := index[n.Operator]
		if !ok {
			i = len(uses)
			index[n.Operator] = i
			uses = append(uses, Use{Node: onnx.Node{Operator: n.Operator, Version: n.Version}})
		}
		uses[i].Count++
		users[n.Name] = append(users[n.Name], i)
	}
	if m != nil {
		for _, f := range m.Source.Module.Funcs {
			for n := range f.All() {
				for _, i := range users[n.Pos] {
					uses[i].imported(n)
				}
			}
		}
		for _, f := range m.Module.Funcs {
			for n := range f.All() {
				by := computedBy(n)
				for name := range strings.SplitSeq(n.Pos, ", ") {
					for _, i := range users[name] {
						uses[i].CPU = faster(uses[i].CPU, by)
					}
				}
			}
		}
	}
	slices.SortFunc(uses, func(a, b Use) int { return strings.Compare(a.Operator, b.Operator) })
	return uses
}

// imported notes a node of the IR that an operator became a part of.
func (u *Use) imported(n *ir.Node) {
	for _, v := range slices.Concat(n.Args, n.Results) {
		if v != nil && v.Type.IsTensor() && !slices.Contains(u.Types, v.Type.DType) {
			u.Types = append(u.Types, v.Type.DType)
		}
	}
	slices.Sort(u.Types)
	if name := ir.OpName(n.Op); !slices.Contains(u.IR, name) {
		u.IR = append(u.IR, name)
		slices.Sort(u.IR)
	}
}

// computedBy returns what computes a lowered node.
func computedBy(n *ir.Node) CPU {
	by := None
	for _, b := range n.Blocks {
		for _, inner := range b.Nodes {
			by = faster(by, computedBy(inner))
		}
	}
	if _, ok := n.Op.(op.Custom); ok {
		return Own
	}
	o, ok := n.Op.(ir.Caller)
	if !ok {
		return by
	}
	call, err := o.Call(n)
	if err != nil {
		return by
	}
	kind := Plain
	if _, ok := slices.BinarySearch(assembly, call.Kernel); ok {
		kind = Assembly
	}
	return faster(by, kind)
}

// faster returns the one that is more than the other.
func faster(a, b CPU) CPU {
	if a == Assembly || b == None {
		return a
	}
	return b
}

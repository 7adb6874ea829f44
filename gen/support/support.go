// Package support lists the ONNX operators that burngen compiles. It reports four things about each operator in a
// model: the number of nodes, the element types, the IR operators that the nodes become, and whether assembly
// computes them. It does not know how this is displayed.
package support

import (
	"slices"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
)

//go:generate go run ./internal/assembly

// Operator is an operator that can be imported.
type Operator struct {
	// Domain is "ai.onnx" or the domain of an extension.
	Domain, Name string
	// Versions are the opsets that changed the definition.
	Versions []int
}

// Operators lists the supported operators, sorted by domain and name.
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

// The ways to compute an operator.
const (
	Assembly CPU = "assembly" // in f32, on machines that have it
	Plain    CPU = "Go"       // plain Go everywhere
	Own      CPU = "custom"   // a function of the user's program
	GPU      CPU = "GPU"      // kernels of the GPU for which the model is compiled
	None     CPU = ""         // nothing: it is folded, or a view of memory
)

// Use describes how a model uses an operator.
type Use struct {
	onnx.Node
	Count int        // number of nodes
	Types []ir.DType // element types of the nodes' operands and results, if they are known
	IR    []string   // the operators that the nodes are imported as
	CPU   CPU        // what computes the nodes, and others fused with them
}

// Uses returns the operators of `nodes`, the nodes of a model's file, sorted by name. m is the compiled
// model. If it is nil, for example because the model cannot be compiled, a Use has the number of nodes but
// not what becomes of them.
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
				if _, err := launch.Of(n, launch.Options{}); m.OnGPU() && err == nil {
					by = GPU
				}
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

// imported records the element types and the operator of n, an IR node that was made for a node of
// the file.
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

func computedBy(n *ir.Node) CPU {
	by := None
	for _, b := range n.Blocks {
		for _, inner := range b.Nodes {
			by = faster(by, computedBy(inner))
		}
	}
	if _, ok := n.Op.(ir.Opaque); ok {
		return Own
	}
	c, err := call.Of(n)
	if err != nil {
		return by
	}
	kind := Plain
	if _, ok := slices.BinarySearch(assembly, c.Kernel.String()); ok {
		kind = Assembly
	}
	return faster(by, kind)
}

func faster(a, b CPU) CPU {
	if a == GPU || b == None || a == Assembly && b != GPU {
		return a
	}
	return b
}

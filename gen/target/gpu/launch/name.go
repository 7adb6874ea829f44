package launch

import (
	"fmt"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// maxName is the maximum length, in bytes, of a kernel's name that lists all operators. See [joined].
const maxName = 48

// joined returns a name for a kernel that computes several operators in order, such as conv3x3_bias_relu. If the name
// would exceed maxName bytes, it ends with a number instead: mul_add_and_7_more.
func joined(operators ...string) string {
	name := strings.Join(operators, "_")
	for kept := len(operators) - 1; len(name) > maxName && kept > 0; kept-- {
		name = fmt.Sprintf("%s_and_%d_more", strings.Join(operators[:kept], "_"), len(operators)-kept)
	}
	return name
}

// pointwiseName returns the name of the kernel of a pointwise node with these operators. The name of a kernel with
// one operator begins with pointwise, because names such as mul are words of machine languages.
func pointwiseName(operators []string) string {
	if len(operators) == 1 {
		operators = []string{"pointwise", operators[0]}
	}
	return joined(operators...)
}

// regionNames returns the names of the operators of a pointwise node, in the order in which they are computed. It
// leaves out constants. It also leaves out casts, unless there is no other operator; then cast is the only name. The
// name of a node without operators is copy.
func regionNames(n *ir.Node) []string {
	var names []string
	other := "copy"
	for _, inner := range n.Blocks[0].Nodes {
		if _, isConst := inner.Results[0].ConstValue(); isConst {
			continue
		}
		if _, isCast := inner.Op.(op.Cast); isCast {
			other = ir.OpName(inner.Op)
			continue
		}
		names = append(names, ir.OpName(inner.Op))
	}
	if names == nil {
		return []string{other}
	}
	return names
}

// fusedNames returns the names of the operators that a fusion adds to a kernel. The first is copy, if there are
// copies. The names of the operators of `last`, the pointwise node, follow in the order in which they are computed.
// block is the block of the fusion.
func fusedNames(block *ir.Block, last *ir.Node) (names []string) {
	for _, n := range block.Nodes {
		if Loads(n.Op) {
			names = []string{"copy"}
		}
	}
	return append(names, regionNames(last)...)
}

// windowName returns the name of an operator with the extents of its window: conv3x3.
func windowName(name string, w op.Window) string {
	extents := make([]string, len(w.Kernel))
	for i, k := range w.Kernel {
		extents[i] = fmt.Sprint(k)
	}
	return name + strings.Join(extents, "x")
}

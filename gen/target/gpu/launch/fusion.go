package launch

import (
	"errors"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var errFusion = errors.New("a kernel computes one operator, and elementwise ones on its result")

// fused returns the launches of a [op.Fusion]: those of its first node, which compute its last node on each
// element before they store it.
func fused(n *ir.Node) ([]kernels.Launch, error) {
	block := n.Blocks[0]
	if len(block.Nodes) != 2 {
		return nil, errFusion
	}
	host, last := block.Nodes[0], block.Nodes[1]
	build := builders[reflect.TypeOf(host.Op)]
	if _, ok := last.Op.(op.Pointwise); !ok || !build.ends {
		return nil, errFusion
	}
	own := host.Results[0]
	launches, err := build.build(host, func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, v *kernel.Value) {
		e.Write(last.Results[0]).Set(i, elements(e, last, own, i, at, e.Rounded(own.Type.DType, v))[0])
	})
	outer := map[*ir.Value]*ir.Value{last.Results[0]: n.Results[0]}
	for i, p := range block.Params {
		outer[p] = n.Args[i]
	}
	for _, l := range launches {
		for i := range l.Args {
			a := &l.Args[i]
			if a.Read != nil {
				a.Read = outer[a.Read]
			}
			if a.Write != nil {
				a.Write = outer[a.Write]
			}
		}
	}
	return launches, err
}

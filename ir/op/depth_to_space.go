package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importDepthToSpace imports DepthToSpace, which moves groups of blocksize² channels to squares of blocksize ×
// blocksize elements. It becomes a reshape, a transpose and a reshape. In mode DCR, the channels that go to the
// same place of the square are adjacent. In mode CRD, the channels that become one channel of the result are
// adjacent. Before opset 11 the mode is DCR.
func importDepthToSpace(c ir.Importer) ([]*ir.Value, error) {
	b, x, size, err := blockOperand(c)
	if err != nil {
		return nil, err
	}
	mode := "DCR"
	if c.Opset() >= 11 {
		mode = c.Text("mode", mode)
	}
	n, h, w := x.Type.Shape[0], x.Type.Shape[2], x.Type.Shape[3]
	channels := divide(x.Type.Shape[1], size.Mul(size))
	switch mode {
	case "DCR":
		x = TransposeBy(b, ReshapeTo(b, x, n, size, size, channels, h, w), 0, 3, 4, 1, 5, 2)
	case "CRD":
		x = TransposeBy(b, ReshapeTo(b, x, n, channels, size, size, h, w), 0, 1, 4, 2, 5, 3)
	default:
		return nil, fmt.Errorf("mode %q", mode)
	}
	return []*ir.Value{ReshapeTo(b, x, n, channels, h.Mul(size), w.Mul(size))}, nil
}

// importSpaceToDepth imports SpaceToDepth, which moves the elements of squares of blocksize × blocksize to
// channels. The channels that come from the same place of the squares are adjacent.
func importSpaceToDepth(c ir.Importer) ([]*ir.Value, error) {
	b, x, size, err := blockOperand(c)
	if err != nil {
		return nil, err
	}
	n, channels := x.Type.Shape[0], x.Type.Shape[1]
	h, w := divide(x.Type.Shape[2], size), divide(x.Type.Shape[3], size)
	x = TransposeBy(b, ReshapeTo(b, x, n, channels, h, size, w, size), 0, 3, 5, 1, 2, 4)
	return []*ir.Value{ReshapeTo(b, x, n, channels.Mul(size).Mul(size), h, w)}, nil
}

func blockOperand(c ir.Importer) (b *ir.Builder, x *ir.Value, size dim.Dim, err error) {
	x, n := c.Arg(0), c.Int("blocksize", 0)
	if x.Type.Rank() != 4 {
		return nil, nil, size, fmt.Errorf("rank %d, 4 expected", x.Type.Rank())
	}
	if n < 1 {
		return nil, nil, size, fmt.Errorf("blocksize %d", n)
	}
	return c.Builder(), x, dim.Const(n), nil
}

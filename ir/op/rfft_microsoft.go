package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importRfft imports Rfft of com.microsoft: the [DFT] of real signals along the last signal_ndim axes. The last of
// these axes gets n/2 + 1 elements, where n is its extent. A new last axis holds the real and the imaginary part.
func importRfft(c ir.Importer) ([]*ir.Value, error) {
	b, y := c.Builder(), c.Arg(0)
	rank := y.Type.Rank()
	axes, err := signalAxes(c, rank)
	if err != nil {
		return nil, err
	}
	shape := y.Type.Shape
	y = ReshapeTo(b, y, append(shape[:rank:rank], dim.Const(1))...)
	y = b.Node(DFT{Axis: rank - 1, Length: shape[rank-1], OneSided: true}, y)
	for i := range axes - 1 {
		axis := rank - axes + i
		y = b.Node(DFT{Axis: axis, Length: shape[axis]}, y)
	}
	return []*ir.Value{y}, nil
}

// importIrfft imports Irfft of com.microsoft. It is the inverse of Rfft for signals with an even number of elements
// along the last axis.
func importIrfft(c ir.Importer) ([]*ir.Value, error) {
	b, y := c.Builder(), c.Arg(0)
	rank := y.Type.Rank() - 1
	axes, err := signalAxes(c, rank)
	if err != nil {
		return nil, err
	}
	shape := y.Type.Shape
	for i := range axes - 1 {
		axis := rank - axes + i
		y = b.Node(DFT{Axis: axis, Length: shape[axis], Inverse: true}, y)
	}
	n := shape[rank-1].Sub(dim.Const(1)).Mul(dim.Const(2)).Max(dim.Const(0))
	y = b.Node(DFT{Axis: rank - 1, Length: n, Inverse: true, OneSided: true}, y)
	return []*ir.Value{ReshapeTo(b, y, y.Type.Shape[:rank]...)}, nil
}

// signalAxes returns the attribute signal_ndim, the number of axes of a signal. It returns an error if signal_ndim
// is not from 1 to rank, if the attribute normalized is not 0, or if the attribute onesided is not 1.
func signalAxes(c ir.Importer, rank int) (int, error) {
	if c.Int("normalized", 0) != 0 || c.Int("onesided", 1) != 1 {
		return 0, fmt.Errorf("normalized %d and onesided %d, 0 and 1 expected", c.Int("normalized", 0), c.Int("onesided", 1))
	}
	axes := c.Int("signal_ndim", 1)
	if axes < 1 || axes > rank {
		return 0, fmt.Errorf("signal_ndim %d of %d axes", axes, rank)
	}
	return axes, nil
}

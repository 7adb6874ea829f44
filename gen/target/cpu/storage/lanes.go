package storage

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// laneFiller is an operator with a channel-blocked result, [N,⌈C/16⌉,spatial…,16]. If C is not a multiple of 16,
// some of the 16 lanes of the last block hold no channel. The operator alone determines the numbers in these lanes.
// They do not depend on the lanes of the operands.
type laneFiller interface {
	// EmptyLanes returns the numbers that these lanes hold. It returns nil if they are not known.
	EmptyLanes(n *ir.Node) []float64
}

// EmptyLanes returns the numbers in the empty lanes of n's channel-blocked result: the lanes beyond the channels. The
// list is nil if the numbers are unknown. ok is false if the numbers depend on the empty lanes of the operands.
func EmptyLanes(n *ir.Node) (numbers []float64, ok bool) {
	switch o := n.Op.(type) {
	case laneFiller:
		return o.EmptyLanes(n), true
	case op.AveragePool, op.GlobalAveragePool, op.LRN, op.Reshape:
		return []float64{0}, true
	}
	return nil, false
}

// MapsLanes reports whether an operator computes each lane of its result from the same lane of its
// first operand, and from constants.
func MapsLanes(o ir.Op) bool {
	switch o.(type) {
	case op.ByteTable, op.DequantizeLinear, op.QuantizeLinear:
		return true
	}
	return false
}

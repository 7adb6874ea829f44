package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var container = []entry{
	measured(
		func(o op.ConcatFromSequence, n node) []kernel.Call {
			return extents(o.Extents, func(axis dim.Dim) kernel.Call {
				return kernel.ConcatExtent(n.in(0), dim.Const(o.Axis), o.NewAxis, dim.Const(len(o.Extents)), axis)
			})
		},
		func(o op.ConcatFromSequence, n node) kernel.Call {
			return kernel.ConcatFromSequence(n.out(0), n.in(0), n.Results[0].Type.Shape, dim.Const(o.Axis), o.NewAxis)
		},
	),
	computes(func(_ op.MapLookup, n node) kernel.Call {
		return kernel.MapLookup(n.out(0), n.in(0), n.in(1), n.in(2))
	}),
	measured(
		func(_ op.MapValues, n node) []kernel.Call { return []kernel.Call{kernel.MapLen(n.in(0))} },
		func(_ op.MapValues, n node) kernel.Call { return kernel.MapValues(n.out(0), n.in(0)) },
	),
	computes(optional),
	measured(
		func(o op.OptionalGetElement, n node) []kernel.Call {
			return extents(o.Extents, func(axis dim.Dim) kernel.Call {
				return kernel.OptionalExtent(n.in(0), dim.Const(len(o.Extents)), axis)
			})
		},
		optionalGetElement,
	),
	computes(optionalHasElement),
	measured(
		func(o op.SequenceAt, n node) []kernel.Call {
			return extents(o.Extents, func(axis dim.Dim) kernel.Call {
				return kernel.SequenceExtent(n.in(0), n.in(1), dim.Const(len(o.Extents)), axis)
			})
		},
		func(_ op.SequenceAt, n node) kernel.Call {
			return kernel.SequenceAt(n.out(0), n.in(0), n.in(1), n.Results[0].Type.Shape)
		},
	),
	computes(sequenceConstruct),
	computes(func(_ op.SequenceErase, n node) kernel.Call {
		return kernel.SequenceErase(n.out(0), n.in(0), n.in(1))
	}),
	computes(sequenceInsert),
	computes(splitToSequence),
	computes(func(_ op.ZipMap, n node) kernel.Call {
		return kernel.ZipMap(n.out(0), n.in(0), n.in(1), n.shape(0)[0])
	}),
}

func optional(_ op.Optional, n node) kernel.Call {
	isTensor := n.Results[0].Type.Elem.IsTensor()
	switch {
	case len(n.Args) == 0 && isTensor:
		return kernel.NoTensor(n.out(0))
	case len(n.Args) == 0:
		return kernel.NoSequence(n.out(0))
	case isTensor:
		return kernel.OptionalTensor(n.out(0), n.in(0), n.shape(0))
	}
	return kernel.OptionalSequence(n.out(0), n.in(0))
}

func optionalGetElement(_ op.OptionalGetElement, n node) kernel.Call {
	r := n.Results[0].Type
	if !r.IsTensor() {
		return kernel.GetSequence(n.out(0), n.in(0))
	}
	return kernel.GetTensor(n.out(0), n.in(0), r.Shape)
}

func optionalHasElement(_ op.OptionalHasElement, n node) kernel.Call {
	if n.Args[0].Type.Elem.IsTensor() {
		return kernel.HasTensor(n.out(0), n.in(0))
	}
	return kernel.HasSequence(n.out(0), n.in(0))
}

func sequenceConstruct(_ op.SequenceConstruct, n node) kernel.Call {
	if len(n.Args) > 0 {
		return none("no kernel takes the operands of a sequence")
	}
	return kernel.SequenceEmpty(n.out(0))
}

func sequenceInsert(_ op.SequenceInsert, n node) kernel.Call {
	if n.Arg(2) == nil {
		return kernel.SequenceAppend(n.out(0), n.in(0), n.in(1), n.shape(1))
	}
	return kernel.SequenceInsert(n.out(0), n.in(0), n.in(1), n.shape(1), n.in(2))
}

func splitToSequence(o op.SplitToSequence, n node) kernel.Call {
	axis := dim.Const(o.Axis)
	switch lengths := n.Arg(1); {
	case lengths == nil:
		return kernel.SplitToSlices(n.out(0), n.in(0), n.shape(0), axis, o.KeepDims)
	case lengths.Type.Rank() == 0:
		return kernel.SplitToParts(n.out(0), n.in(0), n.shape(0), axis, n.in(1))
	}
	return kernel.SplitToSequence(n.out(0), n.in(0), n.shape(0), axis, n.in(1))
}

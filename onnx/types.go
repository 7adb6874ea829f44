package onnx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// typeOf returns the type of an input or a declared value. name is for the
// symbols of dimensions that the model leaves open.
func (im *importer) typeOf(t *wire.Type, name string) (ir.Type, error) {
	if t == nil {
		return ir.Type{}, fmt.Errorf("no type")
	}
	switch t.Kind {
	case wire.SequenceType, wire.OptionalType, wire.MapType:
		elem, err := im.typeOf(t.Of, name)
		if err != nil {
			return ir.Type{}, err
		}
		switch t.Kind {
		case wire.SequenceType:
			return ir.SequenceOf(elem), nil
		case wire.OptionalType:
			return ir.OptionalOf(elem), nil
		}
		key, err := dtypeOf(t.Key)
		return ir.MapOf(key, elem), err
	case wire.TensorType:
	default:
		return ir.Type{}, fmt.Errorf("a type that is no tensor, sequence, optional or map")
	}
	d, err := dtypeOf(t.Elem)
	if err != nil {
		return ir.Type{}, err
	}
	if !t.Ranked {
		return ir.Type{}, fmt.Errorf("no shape: give one with -input %s=…", name)
	}
	if len(t.Shape) > ir.MaxRank {
		return ir.Type{}, fmt.Errorf("rank %d is above %d", len(t.Shape), ir.MaxRank)
	}
	shape := make([]ir.Dim, len(t.Shape))
	for i, dim := range t.Shape {
		switch {
		case dim.Kind == wire.DimValue:
			shape[i] = ir.Const64(dim.Value)
		case dim.Kind == wire.DimParam && dim.Param != "":
			shape[i] = im.symbol(dim.Param)
		default:
			shape[i] = im.symbol(fmt.Sprintf("%s_%d", name, i))
		}
	}
	typ := ir.TensorOf(d, shape...)
	return typ, typ.Check()
}

// symbol returns the extent that a model's text for a dimension stands for: the
// same for the same text, and what Options.Dims say of it.
func (im *importer) symbol(text string) ir.Dim {
	if d, ok := im.fixed[text]; ok {
		return d
	}
	name, ok := im.symbols[text]
	if !ok {
		name = ir.SymbolName(text)
		for n := 2; im.taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", ir.SymbolName(text), n)
		}
		im.symbols[text] = name
		im.taken[name] = true
	}
	if d, ok := im.fixed[name]; ok {
		return d
	}
	return ir.Sym(name)
}

// readDims reads Options.Dims.
func (im *importer) readDims() {
	im.fixed, im.taken = map[string]ir.Dim{}, map[string]bool{}
	for name, text := range im.options.Dims {
		low, high, bounded := strings.Cut(text, "..")
		n, err := strconv.Atoi(low)
		if err != nil || n < 0 {
			im.problems.add("-dim %s=%s: an extent or a range of extents expected", name, text)
			continue
		}
		if !bounded {
			im.fixed[name] = ir.Const(n)
			continue
		}
		m, err := strconv.Atoi(high)
		if err != nil || m < n {
			im.problems.add("-dim %s=%s: an extent or a range of extents expected", name, text)
			continue
		}
		im.Limits[name] = m
	}
}

// overridden returns the type of an input as Options.Inputs give it.
func (im *importer) overridden(name string, t *wire.Type) (ir.Type, error) {
	text, ok := im.options.Inputs[name]
	if !ok {
		return im.typeOf(t, name)
	}
	if t == nil || t.Kind != wire.TensorType {
		return ir.Type{}, fmt.Errorf("-input %s: not a tensor", name)
	}
	d, err := dtypeOf(t.Elem)
	if err != nil {
		return ir.Type{}, err
	}
	shape := []ir.Dim{}
	for _, part := range strings.Split(text, "x") {
		if part == "" && text == "" {
			break
		}
		if n, err := strconv.Atoi(part); err == nil {
			shape = append(shape, ir.Const(n))
			continue
		}
		if ir.SymbolName(part) != part {
			return ir.Type{}, fmt.Errorf("-input %s=%s: %q is neither a number nor a symbol", name, text, part)
		}
		shape = append(shape, im.symbol(part))
	}
	if t.Ranked && len(t.Shape) != len(shape) {
		return ir.Type{}, fmt.Errorf("-input %s=%s: the model's input has rank %d", name, text, len(t.Shape))
	}
	typ := ir.TensorOf(d, shape...)
	return typ, typ.Check()
}

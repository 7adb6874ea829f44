package onnx

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// typeOf returns the type of an input or of another declared value. A dimension without a name gets
// a symbol, which is made from `name`.
func (im *importer) typeOf(t *wire.Type, name string) (ir.Type, error) {
	if t == nil {
		return ir.Type{}, fmt.Errorf("no type")
	}
	switch t.Kind {
	case wire.TensorType:
		return im.tensorTypeOf(t, name)
	case wire.SequenceType, wire.OptionalType, wire.MapType:
	default:
		return ir.Type{}, fmt.Errorf("a type that is not a tensor, sequence, optional or map")
	}
	elem, err := im.elemTypeOf(t.Of, name)
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
	if err == nil && !key.IsInt() && key != ir.String {
		err = fmt.Errorf("a map from %s", key)
	}
	return ir.MapOf(key, elem), err
}

// elemTypeOf returns the type of the elements of a container. An extent that is not constant is
// [dim.Any] instead of a symbol, because it may differ between elements.
func (im *importer) elemTypeOf(t *wire.Type, name string) (ir.Type, error) {
	if t == nil || t.Kind != wire.TensorType {
		return im.typeOf(t, name)
	}
	elem, err := dtypeOf(t.Elem)
	switch {
	case err != nil || len(t.Shape) == 0: // which also stands for elements of any shape
		return ir.Type{DType: elem}, err
	case len(t.Shape) > ir.MaxRank:
		return ir.Type{}, fmt.Errorf("rank %d is above %d", len(t.Shape), ir.MaxRank)
	}
	shape := make([]dim.Dim, len(t.Shape))
	for i, d := range t.Shape {
		shape[i] = dim.Any
		if d.Kind == wire.DimValue && d.Value != -1 {
			shape[i] = dim.Const64(d.Value)
		}
	}
	return ir.TensorOf(elem, shape...), nil
}

func (im *importer) tensorTypeOf(t *wire.Type, name string) (ir.Type, error) {
	elem, err := dtypeOf(t.Elem)
	if err != nil {
		return ir.Type{}, err
	}
	if !t.Ranked {
		return ir.Type{}, fmt.Errorf("no shape: give one with -input %s=…", plain(name))
	}
	if len(t.Shape) > ir.MaxRank {
		return ir.Type{}, fmt.Errorf("rank %d is above %d", len(t.Shape), ir.MaxRank)
	}
	shape := make([]dim.Dim, len(t.Shape))
	for i, d := range t.Shape {
		switch {
		case d.Kind == wire.DimValue && d.Value != -1: // which some exporters write for an open one
			shape[i] = dim.Const64(d.Value)
		case d.Kind == wire.DimParam && strings.ContainsFunc(d.Param, unicode.IsLetter): // others, such as "?", are not names
			shape[i] = im.symbols.dim(d.Param)
		default:
			shape[i] = im.symbols.dim(name + "_" + strconv.Itoa(i))
		}
	}
	typ := ir.TensorOf(elem, shape...)
	return typ, typ.Check()
}

func (im *importer) overridden(name string, t *wire.Type) (ir.Type, error) {
	text, ok := im.options.Inputs[name]
	if !ok {
		return im.typeOf(t, name)
	}
	if t == nil || t.Kind != wire.TensorType {
		return ir.Type{}, fmt.Errorf("-input %s: not a tensor", plain(name))
	}
	elem, err := dtypeOf(t.Elem)
	if err != nil {
		return ir.Type{}, err
	}
	shape := []dim.Dim{}
	for _, part := range strings.Split(text, "x") {
		if text == "" {
			break
		}
		if n, err := strconv.ParseInt(part, 10, 64); err == nil {
			shape = append(shape, dim.Const64(n))
			continue
		}
		if ir.SymbolName(part) != part {
			return ir.Type{}, fmt.Errorf("-input %s=%s: %s is neither a number nor a symbol", plain(name), plain(text), quote(part))
		}
		shape = append(shape, im.symbols.dim(part))
	}
	if t.Ranked && len(t.Shape) != len(shape) {
		return ir.Type{}, fmt.Errorf("-input %s=%s: the model's input has rank %d", plain(name), plain(text), len(t.Shape))
	}
	typ := ir.TensorOf(elem, shape...)
	return typ, typ.Check()
}

package onnx

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// Value is the content of a test data file: a tensor, a sequence, an optional or a map.
type Value struct {
	// Tensor is set if the value is a tensor.
	Tensor *ir.Tensor
	// Items holds the elements of a sequence, the element of an optional if it has one, or the
	// values of a map in the order of Keys.
	Items []*Value
	// Keys holds the keys of a map, as a tensor of rank 1.
	Keys *ir.Tensor
}

// ReadValue reads an input or output of an ONNX backend test, such as test_data_set_0/input_0.pb.
// The file holds a TensorProto, SequenceProto, OptionalProto or MapProto, depending on t. The
// extents in t are ignored. ReadValue also returns the value's name in the file. It returns an
// error if the file cannot be read, is damaged, or holds a value of another type.
func ReadValue(path string, t ir.Type) (v *Value, name string, err error) {
	var data []byte
	info, err := os.Stat(path)
	// A container of nothing is written as no bytes.
	if err != nil || info.Size() > 0 || t.Kind == ir.TensorKind {
		data, err = readFile(path)
	}
	if err == nil {
		v, name, err = decodeValue(data, t)
		if f := file.Format(data); err != nil && f != "" && f != file.Empty {
			err = fmt.Errorf("not a TensorProto or a container of them: %s", f)
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return v, name, nil
}

func decodeValue(data []byte, t ir.Type) (*Value, string, error) {
	switch t.Kind {
	case ir.SequenceKind:
		s, err := wire.ReadSequence(data, wire.Limits{})
		if err != nil {
			return nil, "", err
		}
		v, err := sequenceValue(s)
		return v, s.Name, err
	case ir.OptionalKind:
		o, err := wire.ReadOptional(data, wire.Limits{})
		if err != nil {
			return nil, "", err
		}
		v, err := optionalValue(o)
		return v, o.Name, err
	case ir.MapKind:
		m, err := wire.ReadMap(data, wire.Limits{})
		if err != nil {
			return nil, "", err
		}
		v, err := mapValue(m)
		return v, m.Name, err
	}
	p, err := wire.ReadTensor(data, wire.Limits{})
	if err != nil {
		return nil, "", err
	}
	v, err := tensorValue(p)
	return v, p.Name, err
}

func tensorValue(p *wire.Tensor) (*Value, error) {
	t, err := tensorOf(p)
	if err != nil {
		return nil, err
	}
	return &Value{Tensor: t}, nil
}

func sequenceValue(s *wire.Sequence) (*Value, error) {
	v := &Value{Items: []*Value{}}
	add := func(item *Value, err error) error {
		v.Items = append(v.Items, item)
		return err
	}
	for i := range s.Tensors {
		if err := add(tensorValue(&s.Tensors[i])); err != nil {
			return nil, err
		}
	}
	for i := range s.Sequences {
		if err := add(sequenceValue(&s.Sequences[i])); err != nil {
			return nil, err
		}
	}
	for i := range s.Maps {
		if err := add(mapValue(&s.Maps[i])); err != nil {
			return nil, err
		}
	}
	for i := range s.Optionals {
		if err := add(optionalValue(&s.Optionals[i])); err != nil {
			return nil, err
		}
	}
	if len(s.Sparses) > 0 {
		return nil, fmt.Errorf("sparse tensors are not supported")
	}
	return v, nil
}

func optionalValue(o *wire.Optional) (*Value, error) {
	v := &Value{Items: []*Value{}}
	var item *Value
	var err error
	switch {
	case o.Tensor != nil:
		item, err = tensorValue(o.Tensor)
	case o.Sequence != nil:
		item, err = sequenceValue(o.Sequence)
	case o.Map != nil:
		item, err = mapValue(o.Map)
	case o.Optional != nil:
		item, err = optionalValue(o.Optional)
	case o.Sparse != nil:
		err = fmt.Errorf("sparse tensors are not supported")
	default:
		return v, nil
	}
	v.Items = append(v.Items, item)
	return v, err
}

func mapValue(m *wire.Map) (*Value, error) {
	v := &Value{Items: []*Value{}}
	d, err := dtypeOf(m.Key)
	if err != nil {
		return nil, err
	}
	if m.Values != nil {
		values, err := sequenceValue(m.Values)
		if err != nil {
			return nil, err
		}
		v.Items = values.Items
	}
	v.Keys = ir.NewTensor(d, len(m.Keys)+len(m.StringKeys))
	if d == ir.String && len(m.Keys) > 0 || d != ir.String && len(m.StringKeys) > 0 || v.Keys.Len() != len(v.Items) {
		return nil, fmt.Errorf("a map of %d keys and %d values", v.Keys.Len(), len(v.Items))
	}
	for i, k := range m.Keys {
		v.Keys.SetInt(i, k)
	}
	for i, k := range m.StringKeys {
		v.Keys.SetText(i, k)
	}
	return v, nil
}

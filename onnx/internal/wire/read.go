package wire

import (
	"fmt"

	"github.com/burngen/burngen/internal/file"
)

// ReadModel reads an ONNX file. The model shares the bytes of b. ReadModel returns an error if b is
// not valid or exceeds the limits. If b has another known format, the error names that format.
func ReadModel(b []byte, l Limits) (*Model, error) {
	m := new(Model)
	if err := m.merge(newReader(l), b); err != nil {
		return nil, notONNX(b, err)
	}
	if m.Graph == nil {
		return nil, notONNX(b, &Error{Reason: "no graph"})
	}
	return m, nil
}

// ReadTensor reads a file with a single tensor, as used for test data.
func ReadTensor(b []byte, l Limits) (*Tensor, error) { return read[Tensor](b, l) }

// ReadSequence reads a file with a single sequence, as used for test data.
func ReadSequence(b []byte, l Limits) (*Sequence, error) { return read[Sequence](b, l) }

// ReadOptional reads a file with a single optional value, as used for test data.
func ReadOptional(b []byte, l Limits) (*Optional, error) { return read[Optional](b, l) }

// ReadMap reads a file with a single map, as used for test data.
func ReadMap(b []byte, l Limits) (*Map, error) { return read[Map](b, l) }

func read[S any, P message[S]](b []byte, l Limits) (*S, error) {
	s := new(S)
	if err := P(s).merge(newReader(l), b); err != nil {
		return nil, err
	}
	return s, nil
}

// notONNX returns an error that names the format of b if b has a known format that is not ONNX.
// Otherwise it returns err.
func notONNX(b []byte, err error) error {
	switch f := file.Format(b); f {
	case "":
		return err
	case file.Pickle:
		return fmt.Errorf("not an ONNX model: %s; torch.onnx.export writes models", f)
	case file.PyTorch:
		return fmt.Errorf("not an ONNX model: %s; torch.onnx.export writes models, and burngen inspect and convert read weights", f)
	default:
		return fmt.Errorf("not an ONNX model: %s", f)
	}
}

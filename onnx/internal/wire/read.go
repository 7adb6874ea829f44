package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ReadModel reads an ONNX file. The model shares the bytes of b. A file of another format is named in the error.
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

// ReadTensor reads a file that holds one tensor, as test data does.
func ReadTensor(b []byte, l Limits) (*Tensor, error) { return read[Tensor](b, l) }

// ReadSequence reads a file that holds one sequence.
func ReadSequence(b []byte, l Limits) (*Sequence, error) { return read[Sequence](b, l) }

// ReadOptional reads a file that holds one optional value.
func ReadOptional(b []byte, l Limits) (*Optional, error) { return read[Optional](b, l) }

// ReadMap reads a file that holds one map.
func ReadMap(b []byte, l Limits) (*Map, error) { return read[Map](b, l) }

func read[S any, P message[S]](b []byte, l Limits) (*S, error) {
	s := new(S)
	if err := P(s).merge(newReader(l), b); err != nil {
		return nil, err
	}
	return s, nil
}

// formats is what else a file may be, by the bytes at an offset.
var formats = []struct {
	name   string
	offset int
	magic  string
}{
	{"gzip data", 0, "\x1f\x8b"},
	{"a zip archive", 0, "PK\x03\x04"},
	{"zstandard data", 0, "\x28\xb5\x2f\xfd"},
	{"bzip2 data", 0, "BZh"},
	{"xz data", 0, "\xfd7zXZ\x00"},
	{"a tar archive", 257, "ustar"},
	{"an HDF5 file", 0, "\x89HDF\r\n"},
	{"a Python pickle", 0, "\x80\x02"},
	{"a GGUF file", 0, "GGUF"},
	{"an ONNX Runtime (.ort) file", 4, "ORTM"},
	{"a TensorFlow Lite file", 4, "TFL3"},
	{"a safetensors file", 8, "{\""},
	{"a Git LFS pointer; fetch the file it stands for", 0, "version https://git-lfs"},
}

// notONNX says what b is if it is recognised as something else, and otherwise what err says.
func notONNX(b []byte, err error) error {
	for _, f := range formats {
		if len(b) >= f.offset && bytes.HasPrefix(b[f.offset:], []byte(f.magic)) {
			return fmt.Errorf("not an ONNX model: %s", f.name)
		}
	}
	head := b[:min(len(b), 512)]
	switch {
	case len(b) == 0:
		return fmt.Errorf("not an ONNX model: an empty file")
	case len(bytes.Trim(head, "\x00")) == 0:
		return fmt.Errorf("not an ONNX model: zeros")
	case isText(head):
		return fmt.Errorf("not an ONNX model: text")
	}
	return err
}

// isText tells whether b is UTF-8, but for a character cut off at the end, without control characters.
func isText(b []byte) bool {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if c == utf8.RuneError && n == 1 && len(b)-i >= utf8.UTFMax || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
		i += n
	}
	return true
}

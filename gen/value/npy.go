package value

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/internal/npy"
	"github.com/burngen/burngen/ir"
)

// DecodeNPY decodes a .npy file of numbers or bools in C order. It returns an error if data is not
// such a file, is truncated, is big-endian, or has elements of another type.
func DecodeNPY(data []byte) (*ir.Tensor, error) {
	header, body, err := npyHeader(data)
	if err != nil {
		return nil, err
	}
	h, err := npy.Parse(header)
	if err != nil {
		return nil, err
	}
	d := ir.Invalid
	for k, name := range npy.Types {
		if name == h.Type {
			d, _ = ir.ParseDType(k)
		}
	}
	if d == ir.Invalid {
		return nil, fmt.Errorf("elements of NumPy type %q", h.Type)
	}
	n, err := ir.CheckedLen(h.Shape)
	if err != nil {
		return nil, err
	}
	if len(body)/d.Size() != n || len(body)%d.Size() != 0 {
		return nil, fmt.Errorf("%d bytes for %s", len(body), ir.StaticTensor(d, h.Shape...))
	}
	return ir.DecodeTensor(d, h.Shape, body)
}

// npyHeader splits a file into the text of the header and body, the bytes of the elements.
func npyHeader(data []byte) (header string, body []byte, err error) {
	rest, ok := strings.CutPrefix(string(data[:min(len(data), 12)]), npy.Magic)
	if !ok || len(rest) < 6 {
		return "", nil, not("a NumPy array", data)
	}
	start, size := 10, int(binary.LittleEndian.Uint16(data[8:]))
	if rest[0] >= 2 {
		start, size = 12, int(min(binary.LittleEndian.Uint32(data[8:]), npy.MaxHeader+1))
	}
	if size > npy.MaxHeader || size > len(data)-start {
		return "", nil, errors.New("a NumPy array with a broken header")
	}
	return string(data[start : start+size]), data[start+size:], nil
}

// WriteNPY writes t as a .npy file, strings as UTF-32.
func WriteNPY(w io.Writer, t *ir.Tensor) error {
	descr, body := npyElements(t)
	head, err := npy.Append(nil, descr, t.Shape)
	if err != nil {
		return err
	}
	_, err = w.Write(append(head, body...))
	return err
}

// npyElements returns the two parts of a NumPy array: descr, its type in NumPy's notation, and body, the bytes of its
// elements. Integers narrower than a byte take one byte each.
func npyElements(t *ir.Tensor) (descr string, body []byte) {
	name, ok := npy.Types[t.DType.String()]
	switch {
	case t.DType == ir.String:
		return npyTexts(t)
	case t.DType.Class() == ir.Signed && !ok:
		name = "i1"
	case t.DType.Class() == ir.Unsigned && !ok:
		name = "u1"
	case !ok:
		return fmt.Sprintf("|V%d", t.DType.Size()), t.Bytes()
	}
	if t.DType.Size() == 1 {
		return "|" + name, t.Bytes()
	}
	return "<" + name, t.Bytes()
}

// npyTexts returns the two parts of a NumPy array of strings: descr, its type in NumPy's notation, and body, the
// bytes of its elements. All strings are padded to the length of the longest.
func npyTexts(t *ir.Tensor) (descr string, body []byte) {
	longest := 1
	for i := range t.Len() {
		longest = max(longest, utf8.RuneCountInString(t.Text(i)))
	}
	for i := range t.Len() {
		n := 0
		for _, r := range t.Text(i) {
			body = binary.LittleEndian.AppendUint32(body, uint32(r))
			n++
		}
		body = append(body, make([]byte, 4*(longest-n))...)
	}
	return fmt.Sprintf("<U%d", longest), body
}

// SaveNPY writes t to a file.
func SaveNPY(path string, t *ir.Tensor) error {
	return temporary.Write(path, func(f *os.File) error { return WriteNPY(f, t) })
}

package value

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/ir"
)

// npyMagic starts a file in NumPy's format (NEP 1).
const npyMagic = "\x93NUMPY"

// maxHeader is the maximum length of the header of a NumPy file, in bytes.
const maxHeader = 1 << 16

// npyTypes maps element types to NumPy's names, without byte order. NumPy lacks the narrow floats,
// which are written as bytes.
var npyTypes = map[ir.DType]string{
	ir.F64: "f8", ir.F32: "f4", ir.F16: "f2",
	ir.I64: "i8", ir.I32: "i4", ir.I16: "i2", ir.I8: "i1",
	ir.U64: "u8", ir.U32: "u4", ir.U16: "u2", ir.U8: "u1",
	ir.Bool: "b1",
}

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([<>|=]?)([a-zA-Z][0-9]+)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// DecodeNPY decodes a .npy file of numbers or bools in C order. It returns an error if data is not
// such a file, is truncated, is big-endian, or has elements of another type.
func DecodeNPY(data []byte) (*ir.Tensor, error) {
	header, body, err := npyHeader(data)
	if err != nil {
		return nil, err
	}
	descr, order, dims := npyDescr.FindStringSubmatch(header), npyFortran.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || order == nil || dims == nil {
		return nil, errors.New("not a plain array of numbers")
	}
	if order[1] == "True" {
		return nil, errors.New("in Fortran order: save numpy.ascontiguousarray of it")
	}
	d := ir.Invalid
	for k, name := range npyTypes {
		if name == descr[2] {
			d = k
		}
	}
	if d == ir.Invalid {
		return nil, fmt.Errorf("elements of NumPy type %q", descr[2])
	}
	if descr[1] == ">" && d.Size() > 1 {
		return nil, errors.New("in big-endian order")
	}
	var shape []int
	for _, text := range strings.FieldsFunc(dims[1], func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("extent %s", text)
		}
		shape = append(shape, n)
	}
	n, err := ir.CheckedLen(shape)
	if err != nil {
		return nil, err
	}
	if len(body)/d.Size() != n || len(body)%d.Size() != 0 {
		return nil, fmt.Errorf("%d bytes for %s", len(body), ir.StaticTensor(d, shape...))
	}
	return ir.DecodeTensor(d, shape, body)
}

// npyHeader splits a file into the text of the header and body, the bytes of the elements.
func npyHeader(data []byte) (header string, body []byte, err error) {
	rest, ok := strings.CutPrefix(string(data[:min(len(data), 12)]), npyMagic)
	if !ok || len(rest) < 6 {
		return "", nil, not("a NumPy array", data)
	}
	start, size := 10, int(binary.LittleEndian.Uint16(data[8:]))
	if rest[0] >= 2 {
		start, size = 12, int(min(binary.LittleEndian.Uint32(data[8:]), maxHeader+1))
	}
	if size > maxHeader || size > len(data)-start {
		return "", nil, errors.New("a NumPy array with a broken header")
	}
	return string(data[start : start+size]), data[start+size:], nil
}

// WriteNPY writes t as a .npy file, strings as UTF-32.
func WriteNPY(w io.Writer, t *ir.Tensor) error {
	descr, body := npyElements(t)
	shape := ""
	for _, n := range t.Shape {
		shape += fmt.Sprintf("%d, ", n)
	}
	if len(t.Shape) > 1 {
		shape = strings.TrimSuffix(shape, ", ")
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.TrimSuffix(shape, " "))
	// The elements start at a multiple of 64 bytes.
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	if len(header) > maxHeader-1 {
		return errors.New("rank too large for a NumPy array")
	}
	head := append([]byte(npyMagic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(header)))
	_, err := w.Write(slices.Concat(head, []byte(header), body))
	return err
}

// npyElements returns the two parts of a NumPy array: descr, its type in NumPy's notation, and body, the bytes of its
// elements. Integers narrower than a byte take one byte each.
func npyElements(t *ir.Tensor) (descr string, body []byte) {
	name, ok := npyTypes[t.DType]
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

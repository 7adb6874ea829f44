// Package npy reads and writes the headers of files in NumPy's format (NEP 1).
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Magic starts a file.
const Magic = "\x93NUMPY"

// MaxHeader is the largest length of a header that is read or written, in bytes.
const MaxHeader = 1 << 16

// Types maps types of elements to NumPy's names, without byte order. NumPy lacks the other types.
var Types = map[string]string{
	"f64": "f8", "f32": "f4", "f16": "f2",
	"i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1",
	"u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1",
	"bool": "b1",
}

// Header describes an array in C order, whose elements are little-endian.
type Header struct {
	Type  string // NumPy's name of the type, without byte order
	Shape []int
}

var (
	descrField   = regexp.MustCompile(`'descr'\s*:\s*'([<>|=]?)([a-zA-Z][0-9]+)'`)
	fortranField = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeField   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// Parse parses the text of a header. It returns an error if the array is not plain, not in C order, or big-endian. An
// extent may be any int; Parse does not check that the array fits memory.
func Parse(text string) (*Header, error) {
	descr, order, shape := descrField.FindStringSubmatch(text), fortranField.FindStringSubmatch(text), shapeField.FindStringSubmatch(text)
	if descr == nil || order == nil || shape == nil {
		return nil, errors.New("not a plain array of numbers")
	}
	if order[1] == "True" {
		return nil, errors.New("in Fortran order: save numpy.ascontiguousarray of it")
	}
	h := &Header{Type: descr[2]}
	if descr[1] == ">" && h.Type[1:] != "1" {
		return nil, errors.New("in big-endian order")
	}
	for _, extent := range strings.FieldsFunc(shape[1], func(c rune) bool { return c == ',' || c == ' ' }) {
		n, err := strconv.Atoi(extent)
		if err != nil {
			return nil, fmt.Errorf("an extent of %s", extent)
		}
		h.Shape = append(h.Shape, n)
	}
	return h, nil
}

// Append appends what stands before the elements of an array. descr is the type with its byte order, such as "<f4". The
// elements begin at a multiple of 64 bytes. Append returns an error if there are too many axes.
func Append(out []byte, descr string, shape []int) ([]byte, error) {
	extents := ""
	for _, n := range shape {
		extents += strconv.Itoa(n) + ", "
	}
	if len(shape) > 1 {
		extents = strings.TrimSuffix(extents, ", ")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.TrimSuffix(extents, " "))
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	if len(text) >= MaxHeader {
		return nil, errors.New("rank too large for a NumPy array")
	}
	out = append(append(out, Magic...), 1, 0)
	return append(binary.LittleEndian.AppendUint16(out, uint16(len(text))), text...), nil
}

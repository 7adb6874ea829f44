package batch

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/beam/infer"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// npy is arrays of NumPy, whose first axis counts the items.
var npy = format{
	extensions: []string{".npy"},
	fits:       fitsArray,
	scan:       scanArray,
	open:       openArray,
	outputs:    arrayNames,
	write:      writeArrays,
}

// arrayTypes maps types of elements to NumPy's names, without byte order.
var arrayTypes = map[string]string{
	"f64": "f8", "f32": "f4", "f16": "f2",
	"i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1",
	"u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1",
	"bool": "b1",
}

// maxHeader is the largest length of the header of an array, in bytes.
const maxHeader = 1 << 16

func fitsArray(l *infer.Loaded) error {
	if n := len(l.Inputs()); n != 1 {
		return fmt.Errorf("the model has %d inputs, and an array of NumPy is one: use JSONL", n)
	}
	for _, p := range slices.Concat(l.Inputs(), l.Outputs()) {
		if arrayTypes[p.DType] == "" {
			return fmt.Errorf("%q has elements of type %s, which NumPy does not have: use JSONL", p.Name, p.DType)
		}
	}
	return nil
}

// array is the header of a file.
type array struct {
	descr string // NumPy's name of the type, without byte order
	shape []int
	size  int // of an element in bytes
	// where the elements begin
	offset int64
}

var (
	arrayDescr   = regexp.MustCompile(`'descr'\s*:\s*'([<>|=]?)([a-z])([0-9]{1,2})'`)
	arrayFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	arrayShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// readHeader reads the beginning of a file.
func readHeader(r io.Reader) (*array, error) {
	head := make([]byte, 12)
	if _, err := io.ReadFull(r, head[:10]); err != nil || string(head[:6]) != "\x93NUMPY" {
		return nil, errors.New("not an array of NumPy")
	}
	a, length := &array{offset: 10}, int64(binary.LittleEndian.Uint16(head[8:]))
	if head[6] >= 2 {
		if _, err := io.ReadFull(r, head[10:]); err != nil {
			return nil, errors.New("the header is cut off")
		}
		a.offset, length = 12, int64(binary.LittleEndian.Uint32(head[8:]))
	}
	if length > maxHeader {
		return nil, fmt.Errorf("the header has %d bytes, at most %d are read", length, maxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, errors.New("the header is cut off")
	}
	a.offset += length
	descr, order, shape := arrayDescr.FindSubmatch(text), arrayFortran.FindSubmatch(text), arrayShape.FindSubmatch(text)
	if descr == nil || order == nil || shape == nil {
		return nil, errors.New("not a plain array of numbers")
	}
	a.descr = string(descr[2]) + string(descr[3])
	a.size, _ = strconv.Atoi(string(descr[3]))
	if string(order[1]) == "True" {
		return nil, errors.New("the array is in Fortran order: save numpy.ascontiguousarray of it")
	}
	if string(descr[1]) == ">" && a.size > 1 {
		return nil, errors.New("the elements are big-endian")
	}
	for _, extent := range strings.FieldsFunc(string(shape[1]), func(c rune) bool { return c == ',' || c == ' ' }) {
		n, err := strconv.Atoi(extent)
		if err != nil {
			return nil, fmt.Errorf("the array has an extent of %s", extent)
		}
		a.shape = append(a.shape, n)
	}
	if len(a.shape) == 0 {
		return nil, errors.New("the array has no axis, and so no items")
	}
	return a, nil
}

// itemSize returns the size of an item in bytes.
func (a *array) itemSize() (int, error) {
	n, err := untyped.Elements(a.shape[1:], a.size)
	return n * a.size, err
}

// scanArray finds items of 0 bytes, too: they are bounded by the file's length in bytes.
func scanArray(r io.Reader, size int64, step int) (items int, marks []mark, err error) {
	a, err := readHeader(r)
	if err != nil {
		return 0, nil, err
	}
	each, err := a.itemSize()
	if err != nil {
		return 0, nil, err
	}
	n := a.shape[0]
	rest := size - a.offset
	switch {
	case each == 0 && n > 0:
		return 0, nil, fmt.Errorf("shape %v has items without elements", a.shape)
	case n > 0 && (int64(n) != rest/int64(each) || rest%int64(each) != 0) || n == 0 && rest != 0:
		return 0, nil, fmt.Errorf("%d bytes of elements do not fit shape %v of elements of %d bytes", rest, a.shape, a.size)
	}
	for i := 0; i < n; i += step {
		marks = append(marks, mark{offset: a.offset + int64(i)*int64(each)})
	}
	_, err = io.Copy(io.Discard, r)
	return n, marks, err
}

func openArray(f io.ReaderAt, s Shard, l *infer.Loaded) (func() (infer.Item, error), error) {
	p := l.Inputs()[0]
	a, err := readHeader(io.NewSectionReader(f, 0, s.Offset))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	want, shape := extents(p, l), a.shape[1:]
	fits := len(want) == len(shape)
	for d := 0; fits && d < len(want); d++ {
		fits = want[d] < 0 || want[d] == shape[d]
	}
	if a.descr != arrayTypes[p.DType] || !fits {
		return nil, fmt.Errorf("%s: input %q has items of type %s and shape %v, want %s and %v", s.Path, p.Name, a.descr, shape, arrayTypes[p.DType], want)
	}
	each, err := a.itemSize()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	in, at := bufio.NewReaderSize(io.NewSectionReader(f, s.Offset, math.MaxInt64-s.Offset), 1<<16), s.First
	return func() (infer.Item, error) {
		t := infer.Tensor{Shape: shape, Data: untyped.Alloc(each)}
		if _, err := io.ReadFull(in, t.Data); err != nil {
			return infer.Item{}, fmt.Errorf("%s: %w", s.Path, unexpected(err))
		}
		untyped.TurnLittleEndian(t.Data, a.size)
		at++
		return infer.Item{Key: fmt.Sprintf("%s[%d]", s.Path, at-1), Tensors: []infer.Tensor{t}}, nil
	}, nil
}

// arrayNames returns .npy for a model with one output, and otherwise .NAME.npy for each output. Characters that are
// not letters, digits, - or _ become _.
func arrayNames(l *infer.Loaded) ([]string, error) {
	if len(l.Outputs()) == 1 {
		return []string{".npy"}, nil
	}
	var names []string
	for _, p := range l.Outputs() {
		name := "." + regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(p.Name, "_") + ".npy"
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("two outputs have the file name *%s: use JSONL", name)
		}
		names = append(names, name)
	}
	return names, nil
}

func writeArrays(w []io.Writer, n int, l *infer.Loaded) func(infer.Item) error {
	shapes := make([][]int, len(w))
	return func(it infer.Item) error {
		for k, p := range l.Outputs() {
			t := it.Tensors[k]
			switch {
			case shapes[k] == nil:
				shapes[k] = append([]int{n}, t.Shape...)
				if err := writeHeader(w[k], p, shapes[k]); err != nil {
					return err
				}
			case !slices.Equal(shapes[k][1:], t.Shape):
				return fmt.Errorf("output %q has shape %v, after items of shape %v: use JSONL", p.Name, t.Shape, shapes[k][1:])
			}
			data := slices.Clone(t.Data)
			untyped.TurnLittleEndian(data, p.Size)
			if _, err := w[k].Write(data); err != nil {
				return err
			}
		}
		return nil
	}
}

// writeHeader writes what stands before the elements of an array. They begin at a multiple of 64 bytes.
func writeHeader(w io.Writer, p *untyped.Port, shape []int) error {
	order := "<"
	if p.Size == 1 {
		order = "|"
	}
	extents := ""
	for _, n := range shape {
		extents += strconv.Itoa(n) + ", "
	}
	if len(shape) > 1 {
		extents = strings.TrimSuffix(extents, ", ")
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, arrayTypes[p.DType], strings.TrimSuffix(extents, " "))
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	if len(text) >= maxHeader {
		return fmt.Errorf("output %q has too many axes for NumPy", p.Name)
	}
	head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	_, err := w.Write(append(head, text...))
	return err
}

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

	"github.com/burngen/burngen/internal/npy"
	"github.com/burngen/burngen/runtime/beam/infer"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// arrays is arrays of NumPy, whose first axis counts the items.
var arrays = format{
	extensions: []string{".npy"},
	fits:       fitsArray,
	scan:       scanArray,
	open:       openArray,
	outputs:    arrayNames,
	write:      writeArrays,
}

func fitsArray(l *infer.Loaded) error {
	if n := len(l.Inputs()); n != 1 {
		return fmt.Errorf("the model has %d inputs, and an array of NumPy is one: use JSONL", n)
	}
	for _, p := range slices.Concat(l.Inputs(), l.Outputs()) {
		if npy.Types[p.DType] == "" {
			return fmt.Errorf("%q has elements of type %s, which NumPy does not have: use JSONL", p.Name, p.DType)
		}
	}
	return nil
}

// maxElement is the largest size of an element in bytes. No number is as long.
const maxElement = 99

// array is the header of a file.
type array struct {
	descr string // NumPy's name of the type, without byte order
	shape []int
	size  int // of an element in bytes
	// where the elements begin
	offset int64
}

// readHeader reads the beginning of a file.
func readHeader(r io.Reader) (*array, error) {
	head := make([]byte, 12)
	if _, err := io.ReadFull(r, head[:10]); err != nil || string(head[:6]) != npy.Magic {
		return nil, errors.New("not an array of NumPy")
	}
	a, length := &array{offset: 10}, int64(binary.LittleEndian.Uint16(head[8:]))
	if head[6] >= 2 {
		if _, err := io.ReadFull(r, head[10:]); err != nil {
			return nil, errors.New("the header is cut off")
		}
		a.offset, length = 12, int64(binary.LittleEndian.Uint32(head[8:]))
	}
	if length > npy.MaxHeader {
		return nil, fmt.Errorf("the header has %d bytes, at most %d are read", length, npy.MaxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, errors.New("the header is cut off")
	}
	a.offset += length
	h, err := npy.Parse(string(text))
	if err != nil {
		return nil, err
	}
	a.descr, a.shape = h.Type, h.Shape
	isText := h.Type[0] < 'a' // NumPy's names of numbers are lower case
	if a.size, err = strconv.Atoi(h.Type[1:]); err != nil || a.size > maxElement || isText {
		return nil, errors.New("not a plain array of numbers")
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
	if a.descr != npy.Types[p.DType] || !fits {
		return nil, fmt.Errorf("%s: input %q has items of type %s and shape %v, want %s and %v", s.Path, p.Name, a.descr, shape, npy.Types[p.DType], want)
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
	head, err := npy.Append(nil, order+npy.Types[p.DType], shape)
	if err != nil {
		return fmt.Errorf("output %q: %w", p.Name, err)
	}
	_, err = w.Write(head)
	return err
}

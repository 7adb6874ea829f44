package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/burngen/burngen/runtime/beam/infer"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// jsonl is files with an object on each line. Its fields are the inputs or the outputs, as nested lists. Empty lines
// are skipped.
var jsonl = format{
	extensions: []string{".jsonl", ".ndjson"},
	fits:       fitsJSON,
	scan:       scanLines,
	open:       openLines,
	outputs:    func(*infer.Loaded) ([]string, error) { return []string{".jsonl"}, nil },
	write:      writeLines,
}

// maxLine is the largest length of a line in bytes.
const maxLine = 64 << 20

func fitsJSON(l *infer.Loaded) error {
	for _, p := range l.Inputs() {
		if parsers[p.DType] == nil {
			return fmt.Errorf("input %q has elements of type %s, which are not read from JSON", p.Name, p.DType)
		}
	}
	for _, p := range l.Outputs() {
		if printers[p.DType] == nil {
			return fmt.Errorf("output %q has elements of type %s, which are not written as JSON", p.Name, p.DType)
		}
	}
	return nil
}

// lines reads lines and knows where they are.
type lines struct {
	r    *bufio.Reader
	next mark // of the next line
	line []byte
}

func newLines(r io.Reader, at mark) *lines {
	return &lines{r: bufio.NewReaderSize(r, 1<<16), next: at}
}

// read returns the next line that is not empty, and where it begins. It returns io.EOF at the end.
func (l *lines) read() (line []byte, at mark, err error) {
	for {
		at, l.line = l.next, l.line[:0]
		for {
			part, err := l.r.ReadSlice('\n')
			l.line = append(l.line, part...)
			l.next.offset += int64(len(part))
			if len(l.line) > maxLine {
				return nil, at, fmt.Errorf("line %d is longer than %d MiB", at.line, maxLine>>20)
			}
			if err == nil || err == io.EOF && len(l.line) > 0 {
				break
			}
			if err != bufio.ErrBufferFull {
				return nil, at, err
			}
		}
		l.next.line++
		if line := bytes.TrimSpace(l.line); len(line) > 0 {
			return line, at, nil
		}
	}
}

func scanLines(r io.Reader, _ int64, step int) (items int, marks []mark, err error) {
	l := newLines(r, mark{line: 1})
	for {
		_, at, err := l.read()
		if err == io.EOF {
			return items, marks, nil
		}
		if err != nil {
			return 0, nil, err
		}
		if items%step == 0 {
			marks = append(marks, at)
		}
		items++
	}
}

func openLines(f io.ReaderAt, s Shard, l *infer.Loaded) (func() (infer.Item, error), error) {
	from := newLines(io.NewSectionReader(f, s.Offset, math.MaxInt64-s.Offset), mark{s.Offset, s.Line})
	return func() (infer.Item, error) {
		line, at, err := from.read()
		if err != nil {
			return infer.Item{}, fmt.Errorf("%s: %w", s.Path, unexpected(err))
		}
		key := fmt.Sprintf("%s:%d", s.Path, at.line)
		it, err := parseLine(line, l)
		if err != nil {
			return infer.Item{}, fmt.Errorf("%s: %w", key, err)
		}
		it.Key = key
		return it, nil
	}, nil
}

// unexpected returns err, or an error that says that the file has changed if err is an end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file has become shorter")
	}
	return err
}

// parseLine reads an item of inputs from a line.
func parseLine(line []byte, l *infer.Loaded) (infer.Item, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		if err == nil || json.Valid(line) {
			return infer.Item{}, errors.New("the line is not a JSON object")
		}
		return infer.Item{}, err
	}
	var it infer.Item
	for _, p := range l.Inputs() {
		text, found := fields[p.Name]
		if !found {
			return it, fmt.Errorf("input %q is missing", p.Name)
		}
		delete(fields, p.Name)
		rank := len(extents(p, l))
		r := nested{text: text, parse: parsers[p.DType], shape: make([]int, rank), seen: make([]bool, rank)}
		if err := r.value(0); err != nil {
			return it, fmt.Errorf("input %q: %w", p.Name, err)
		}
		it.Tensors = append(it.Tensors, r.tensor(p))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		return it, fmt.Errorf("the model has no input %q", name)
	}
	return it, nil
}

// nested reads nested lists of elements from valid JSON.
type nested struct {
	text  []byte
	at    int
	shape []int
	// whether an extent of shape is known
	seen  []bool
	parse func(text []byte, t *infer.Tensor) error
	out   infer.Tensor
}

// value reads a list of this depth, or an element.
func (r *nested) value(depth int) error {
	r.space()
	if isList := r.text[r.at] == '['; isList != (depth < len(r.shape)) {
		return fmt.Errorf("the lists do not have depth %d", len(r.shape))
	}
	if depth == len(r.shape) {
		return r.parse(r.element(), &r.out)
	}
	n := 0
	for r.at++; ; n++ {
		if r.space(); r.text[r.at] == ']' {
			break
		}
		if err := r.value(depth + 1); err != nil {
			return err
		}
		if r.space(); r.text[r.at] == ',' {
			r.at++
		}
	}
	r.at++
	if r.seen[depth] && r.shape[depth] != n {
		return fmt.Errorf("lists of %d and of %d elements at depth %d", r.shape[depth], n, depth+1)
	}
	r.shape[depth], r.seen[depth] = n, true
	return nil
}

func (r *nested) space() {
	for r.at < len(r.text) && bytes.IndexByte([]byte(" \t\r\n"), r.text[r.at]) >= 0 {
		r.at++
	}
}

// element returns the text of a number, a string, true, false or null. For an object, it returns the text up to the
// first comma.
func (r *nested) element() []byte {
	from := r.at
	if r.text[r.at] == '"' {
		for r.at++; r.text[r.at] != '"'; r.at++ {
			if r.text[r.at] == '\\' {
				r.at++
			}
		}
		r.at++
		return r.text[from:r.at]
	}
	for r.at < len(r.text) && bytes.IndexByte([]byte(",] \t\r\n"), r.text[r.at]) < 0 {
		r.at++
	}
	return r.text[from:r.at]
}

// tensor returns what was read, with data that is aligned for the elements of p.
func (r *nested) tensor(p *untyped.Port) infer.Tensor {
	t := infer.Tensor{Shape: r.shape, Texts: r.out.Texts}
	t.Data = untyped.Alloc(len(r.out.Data))
	copy(t.Data, r.out.Data)
	return t
}

// parsers has a function for each type that appends an element to a tensor.
var parsers = map[string]func(text []byte, t *infer.Tensor) error{
	"f64": parseFloat(64, func(v float64) uint64 { return math.Float64bits(v) }),
	"f32": parseFloat(32, func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }),
	"i64": parseSigned(64), "i32": parseSigned(32), "i16": parseSigned(16), "i8": parseSigned(8),
	"u64": parseUnsigned(64), "u32": parseUnsigned(32), "u16": parseUnsigned(16), "u8": parseUnsigned(8),
	"bool": func(text []byte, t *infer.Tensor) error {
		v, found := map[string]byte{"false": 0, "true": 1}[string(text)]
		if !found {
			return fmt.Errorf("%.40q is not true or false", text)
		}
		t.Data = append(t.Data, v)
		return nil
	},
	"string": func(text []byte, t *infer.Tensor) error {
		var s *string
		if json.Unmarshal(text, &s) != nil || s == nil {
			return fmt.Errorf("%.40q is not a string", text)
		}
		t.Texts = append(t.Texts, *s)
		return nil
	},
}

func parseFloat(bits int, encode func(float64) uint64) func([]byte, *infer.Tensor) error {
	return func(text []byte, t *infer.Tensor) error {
		if !isNumber(text) {
			return fmt.Errorf("%.40q is not a number", text)
		}
		v, err := strconv.ParseFloat(string(text), bits)
		if err != nil {
			return fmt.Errorf("%.40s does not fit f%d", text, bits)
		}
		t.Data = appendBits(t.Data, encode(v), bits)
		return nil
	}
}

// appendBits appends a number of this many bits to the data of a tensor.
func appendBits(data []byte, v uint64, bits int) []byte {
	at := len(data)
	data = append(data, make([]byte, bits/8)...)
	untyped.Store(data[at:], bits/8, v)
	return data
}

func parseSigned(bits int) func([]byte, *infer.Tensor) error {
	return func(text []byte, t *infer.Tensor) error {
		v, err := strconv.ParseInt(string(text), 10, bits)
		if err != nil || !isNumber(text) {
			return fmt.Errorf("%.40q is not an integer of type i%d", text, bits)
		}
		t.Data = appendBits(t.Data, uint64(v), bits)
		return nil
	}
}

func parseUnsigned(bits int) func([]byte, *infer.Tensor) error {
	return func(text []byte, t *infer.Tensor) error {
		v, err := strconv.ParseUint(string(text), 10, bits)
		if err != nil {
			return fmt.Errorf("%.40q is not an integer of type u%d", text, bits)
		}
		t.Data = appendBits(t.Data, v, bits)
		return nil
	}
}

// isNumber reports whether text, an element of valid JSON, is a number.
func isNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9')
}

// printers has a function for each type that appends element i of a tensor as JSON.
var printers = map[string]func(out []byte, t *infer.Tensor, i int) ([]byte, error){
	"f64":  printFloat(func(v float64) float64 { return v }, 64),
	"f32":  printFloat(func(v float32) float64 { return float64(v) }, 32),
	"f16":  printFloat(func(v rt.Float16) float64 { return float64(v.Float32()) }, 32),
	"bf16": printFloat(func(v rt.BFloat16) float64 { return float64(v.Float32()) }, 32),
	"i64":  printSigned[int64], "i32": printSigned[int32], "i16": printSigned[int16], "i8": printSigned[int8],
	"u64": printUnsigned[uint64], "u32": printUnsigned[uint32], "u16": printUnsigned[uint16], "u8": printUnsigned[uint8],
	"bool": func(out []byte, t *infer.Tensor, i int) ([]byte, error) {
		return strconv.AppendBool(out, t.Data[i] != 0), nil
	},
	"string": func(out []byte, t *infer.Tensor, i int) ([]byte, error) {
		text, err := json.Marshal(t.Texts[i])
		return append(out, text...), err
	},
}

func printFloat[T any](widen func(T) float64, bits int) func([]byte, *infer.Tensor, int) ([]byte, error) {
	return func(out []byte, t *infer.Tensor, i int) ([]byte, error) {
		v := widen(untyped.View[T](t.Data)[i])
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("JSON does not have %v; read and write .npy", v)
		}
		return strconv.AppendFloat(out, v, 'g', -1, bits), nil
	}
}

func printSigned[T int64 | int32 | int16 | int8](out []byte, t *infer.Tensor, i int) ([]byte, error) {
	return strconv.AppendInt(out, int64(untyped.View[T](t.Data)[i]), 10), nil
}

func printUnsigned[T uint64 | uint32 | uint16 | uint8](out []byte, t *infer.Tensor, i int) ([]byte, error) {
	return strconv.AppendUint(out, uint64(untyped.View[T](t.Data)[i]), 10), nil
}

func writeLines(w []io.Writer, _ int, l *infer.Loaded) func(infer.Item) error {
	var out []byte
	return func(it infer.Item) error {
		out = append(out[:0], '{')
		for k, p := range l.Outputs() {
			if k > 0 {
				out = append(out, ',')
			}
			name, err := json.Marshal(p.Name)
			if err != nil {
				return err
			}
			out = append(append(out, name...), ':')
			at := 0
			if out, err = appendNested(out, &it.Tensors[k], it.Tensors[k].Shape, &at, printers[p.DType]); err != nil {
				return fmt.Errorf("output %q: %w", p.Name, err)
			}
		}
		out = append(out, "}\n"...)
		_, err := w[0].Write(out)
		return err
	}
}

// appendNested appends the elements of t from index *at on, as lists of this shape.
func appendNested(out []byte, t *infer.Tensor, shape []int, at *int, print func([]byte, *infer.Tensor, int) ([]byte, error)) (_ []byte, err error) {
	if len(shape) == 0 {
		out, err = print(out, t, *at)
		*at++
		return out, err
	}
	out = append(out, '[')
	for i := range shape[0] {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendNested(out, t, shape[1:], at, print); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

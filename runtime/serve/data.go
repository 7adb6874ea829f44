package serve

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// numbers is a buffer to which elements are appended one by one.
type numbers struct {
	port *untyped.Port
	// memory from alloc
	data []byte
	// number of elements
	n int
}

// next appends an element and returns its memory.
func (b *numbers) next() []byte {
	size := b.port.Size
	at := b.n * size
	if at+size > len(b.data) {
		grown := untyped.Alloc(max(512, 2*len(b.data)))
		copy(grown, b.data)
		b.data = grown
	}
	b.n++
	return b.data[at : at+size]
}

// data reads the elements of a tensor, in arrays nested to any depth.
func (d *decoder) data(x *untyped.Tensor, p *untyped.Port) error {
	x.Port = p
	if p.IsText() {
		return d.nested(func() error {
			text, err := d.str(math.MaxInt - 1)
			if err == nil {
				x.Texts = append(x.Texts, string(text))
			}
			return err
		})
	}
	b := &numbers{port: p}
	err := d.nested(func() error { return d.element(b) })
	x.Data = b.data[:b.n*p.Size]
	return err
}

// nested reads an array whose elements may be arrays, to any depth. It calls element to read each
// value that is not an array.
func (d *decoder) nested(element func() error) error {
	return d.array(func() error {
		c, err := d.peek()
		switch {
		case err != nil:
			return err
		case c == '[':
			return d.nested(element)
		}
		return element()
	})
}

// dataOf parses text, the result of the method raw: the elements of a tensor as JSON.
func (d *decoder) dataOf(x *untyped.Tensor, p *untyped.Port, text []byte) error {
	early := &decoder{scanner: newScanner(bytes.NewReader(text)), method: d.method}
	defer early.free()
	if err := early.data(x, p); err != nil {
		return err
	}
	return early.ends()
}

// element appends one number or truth value.
func (d *decoder) element(b *numbers) error {
	p := b.port
	if p.DType == "bool" {
		word, err := d.word()
		if err == nil && word == "null" {
			err = badRequest("input %q has null among its data", p.Name)
		}
		if err != nil {
			return err
		}
		b.next()[0] = 0
		if word == "true" {
			b.data[b.n-1] = 1
		}
		return nil
	}
	text, err := d.number()
	if err != nil {
		return err
	}
	if !put(b.next(), p, text) {
		return badRequest("input %q: %s is not a number of type %s", p.Name, clip([]byte(text)), datatypeOf(p.DType))
	}
	return nil
}

// put parses text as a number and stores it in dst in native byte order. It returns false if the
// type cannot represent the number. Floats are rounded once, to nearest.
func put(dst []byte, p *untyped.Port, text string) bool {
	var bits uint64
	var err error
	switch p.DType {
	case "f64":
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		bits = math.Float64bits(f)
	case "f32":
		var f float64
		f, err = strconv.ParseFloat(text, 32)
		bits = uint64(math.Float32bits(float32(f)))
	case "f16":
		h, ok := float16.parse(text)
		untyped.Store(dst, p.Size, uint64(h))
		return ok
	case "bf16":
		h, ok := bfloat16.parse(text)
		untyped.Store(dst, p.Size, uint64(h))
		return ok
	case "i8", "i16", "i32", "i64":
		var n int64
		n, err = strconv.ParseInt(text, 10, 8*p.Size)
		bits = uint64(n)
	default:
		bits, err = strconv.ParseUint(text, 10, 8*p.Size)
	}
	untyped.Store(dst, p.Size, bits)
	return err == nil
}

// raw returns the text of the next value. It is used if the data of an input precede the input's
// name.
func (s *scanner) raw() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	copied := &tee{from: s.from}
	copied.kept = slices.Clone(s.buf[s.at:s.end])
	s.from = copied
	err := s.skip(math.MaxInt - 1)
	s.from = copied.from
	return copied.kept[:len(copied.kept)-(s.end-s.at)], err
}

// tee copies to kept what is read.
type tee struct {
	from io.Reader
	kept []byte
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.kept = append(t.kept, p[:n]...)
	return n, err
}

// ahead is the number of bytes that are allocated for a tensor before any of its data has arrived.
const ahead = 1 << 20

// readBytes reads n bytes into memory that alloc returns. The memory grows as the bytes arrive.
func readBytes(r io.Reader, n int) ([]byte, error) {
	data, have := untyped.Alloc(min(n, ahead)), 0
	for have < n {
		if have == len(data) {
			grown := untyped.Alloc(min(n, 4*len(data)))
			copy(grown, data)
			data = grown
		}
		got, err := io.ReadFull(r, data[have:])
		have += got
		if err != nil {
			return nil, torn(err)
		}
	}
	return data, nil
}

// readBinary reads the binary elements of a tensor, size bytes, that follow the JSON.
func readBinary(x *untyped.Tensor, r io.Reader, size int) error {
	data, err := readBytes(r, size)
	if err != nil {
		return err
	}
	return setBinary(x, data)
}

// setBinary sets the elements of x from their binary form. It may change data, and keep it as the
// memory of x. It returns an error if the number of elements does not match the shape.
func setBinary(x *untyped.Tensor, data []byte) error {
	n, err := untyped.Elements(x.Shape, x.Port.Size)
	if err != nil {
		return badRequest("input %q: %v", x.Port.Name, err)
	}
	if x.Port.IsText() {
		for len(data) > 0 {
			if len(data) < 4 || uint64(len(data)-4) < uint64(binary.LittleEndian.Uint32(data)) {
				return badRequest("input %q: a string is longer than the data", x.Port.Name)
			}
			end := 4 + int(binary.LittleEndian.Uint32(data))
			x.Texts, data = append(x.Texts, string(data[4:end])), data[end:]
		}
		if len(x.Texts) != n {
			return badRequest("input %q has %d elements of data, want %d for shape %v", x.Port.Name, len(x.Texts), n, x.Shape)
		}
		return nil
	}
	if len(data) != n*x.Port.Size {
		return badRequest("input %q has %d bytes of data, want %d for shape %v", x.Port.Name, len(data), n*x.Port.Size, x.Shape)
	}
	untyped.TurnLittleEndian(data, x.Port.Size)
	if x.Port.DType == "bool" {
		untyped.NormaliseBools(data)
	}
	x.Data = data
	return nil
}

func appendBinary(b []byte, x *untyped.Tensor) []byte {
	for _, text := range x.Texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	at := len(b)
	b = append(b, x.Data...)
	untyped.TurnLittleEndian(b[at:], x.Port.Size)
	return b
}

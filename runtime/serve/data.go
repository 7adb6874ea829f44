package serve

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
)

// numbers is a buffer to which elements are appended one by one.
type numbers struct {
	port *port
	// memory from alloc
	data []byte
	// number of elements
	n int
}

// next appends an element and returns its memory.
func (b *numbers) next() []byte {
	size := b.port.size
	at := b.n * size
	if at+size > len(b.data) {
		grown := alloc(max(512, 2*len(b.data)))
		copy(grown, b.data)
		b.data = grown
	}
	b.n++
	return b.data[at : at+size]
}

// data reads the elements of a tensor, in arrays nested to any depth.
func (d *decoder) data(x *tensor, p *port) error {
	x.port = p
	if p.isText() {
		return d.nested(func() error {
			text, err := d.str(math.MaxInt - 1)
			if err == nil {
				x.texts = append(x.texts, string(text))
			}
			return err
		})
	}
	b := &numbers{port: p}
	err := d.nested(func() error { return d.element(b) })
	x.data = b.data[:b.n*p.size]
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

// dataOf parses text, which raw has returned: the elements of a tensor as JSON.
func (d *decoder) dataOf(x *tensor, p *port, text []byte) error {
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
	if p.name == "BOOL" {
		word, err := d.word()
		if err == nil && word == "null" {
			err = badRequest("input %q has null among its data", p.label)
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
	if !put(b.next(), p.datatype, text) {
		return badRequest("input %q: %s is not a number of type %s", p.label, clip([]byte(text)), p.name)
	}
	return nil
}

// put parses text as a number and stores it in dst in native byte order. It returns false if the
// type cannot represent the number. Floats are rounded once, to nearest.
func put(dst []byte, d datatype, text string) bool {
	var bits uint64
	var err error
	switch d.name {
	case "FP64":
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		bits = math.Float64bits(f)
	case "FP32":
		var f float64
		f, err = strconv.ParseFloat(text, 32)
		bits = uint64(math.Float32bits(float32(f)))
	case "FP16":
		h, ok := float16.parse(text)
		store(dst, d.size, uint64(h))
		return ok
	case "BF16":
		h, ok := bfloat16.parse(text)
		store(dst, d.size, uint64(h))
		return ok
	case "INT8", "INT16", "INT32", "INT64":
		var n int64
		n, err = strconv.ParseInt(text, 10, 8*d.size)
		bits = uint64(n)
	default:
		bits, err = strconv.ParseUint(text, 10, 8*d.size)
	}
	store(dst, d.size, bits)
	return err == nil
}

// raw returns the text of the next value. It is used for data that precedes the name of its input.
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
	data, have := alloc(min(n, ahead)), 0
	for have < n {
		if have == len(data) {
			grown := alloc(min(n, 4*len(data)))
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
func readBinary(x *tensor, r io.Reader, size int) error {
	data, err := readBytes(r, size)
	if err != nil {
		return err
	}
	return x.setBinary(data)
}

// setBinary sets the elements of a tensor from their binary form. x may share the memory of data.
// It returns an error if the number of elements does not match the shape.
func (x *tensor) setBinary(data []byte) error {
	n, err := elements(x.shape, x.port.size)
	if err != nil {
		return badRequest("input %q: %v", x.port.label, err)
	}
	if x.port.isText() {
		for len(data) > 0 {
			if len(data) < 4 || uint64(len(data)-4) < uint64(binary.LittleEndian.Uint32(data)) {
				return badRequest("input %q: a string is longer than the data", x.port.label)
			}
			end := 4 + int(binary.LittleEndian.Uint32(data))
			x.texts, data = append(x.texts, string(data[4:end])), data[end:]
		}
		if len(x.texts) != n {
			return badRequest("input %q has %d elements of data, want %d for shape %v", x.port.label, len(x.texts), n, x.shape)
		}
		return nil
	}
	if len(data) != n*x.port.size {
		return badRequest("input %q has %d bytes of data, want %d for shape %v", x.port.label, len(data), n*x.port.size, x.shape)
	}
	turn(data, x.port.size)
	if x.port.name == "BOOL" {
		normaliseBools(data)
	}
	x.data = data
	return nil
}

func (x *tensor) appendBinary(b []byte) []byte {
	for _, text := range x.texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	at := len(b)
	b = append(b, x.data...)
	turn(b[at:], x.port.size)
	return b
}

// store stores the low size bytes of a number in native byte order.
func store(dst []byte, size int, bits uint64) {
	switch size {
	case 1:
		dst[0] = byte(bits)
	case 2:
		binary.NativeEndian.PutUint16(dst, uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(dst, uint32(bits))
	default:
		binary.NativeEndian.PutUint64(dst, bits)
	}
}

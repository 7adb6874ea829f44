package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const alignment = 64

// Entry is one tensor to write. Data holds its elements, little-endian and in row-major order. If
// Read is not nil, it returns the elements, and Data is not used. Read is called when the elements
// are written, so that only one tensor at a time is in memory.
type Entry struct {
	Name  string
	DType DType
	Shape []int64
	Data  []byte
	Read  func() ([]byte, error)
}

// Placed is an entry with its place in a file: it takes Size bytes from byte Begin on.
type Placed struct {
	Entry
	Begin, Size int64
}

// Lay plans a file of the entries and the metadata, which may be nil. It returns the header, and
// the entries in the order of their data. The data follow the header without gaps. The result does
// not depend on the order of entries. It returns an error if a name is reserved, duplicate or not
// UTF-8, if metadata are not UTF-8, or if the header exceeds 100 MB. It also returns an error if a
// type or shape is not valid, or if the length of Data does not match them.
func Lay(entries []Entry, meta map[string]string) (head []byte, placed []Placed, err error) {
	order := make([]Placed, len(entries))
	for i, e := range entries {
		order[i].Entry = e
		if err := order[i].check(); err != nil {
			return nil, nil, fmt.Errorf("safetensors: tensor %.100q: %w", e.Name, err)
		}
	}
	slices.SortFunc(order, func(a, b Placed) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(order); i++ {
		if order[i-1].Name == order[i].Name {
			return nil, nil, fmt.Errorf("safetensors: tensor %.100q: name appears twice", order[i].Name)
		}
	}
	placed = slices.Clone(order)
	slices.SortStableFunc(placed, compareLayout)
	begin := make(map[string]int64, len(placed))
	var at int64
	for _, e := range placed {
		begin[e.Name] = at
		at += e.Size
	}
	if head, err = encodeHeader(order, begin, meta); err != nil {
		return nil, nil, err
	}
	for i := range placed {
		placed[i].Begin = int64(len(head)) + begin[placed[i].Name]
	}
	return head, placed, nil
}

// Write writes a file of the entries and the metadata, which may be nil, and returns the number of
// bytes written. It returns the errors of [Lay], of Read and of w. It also returns an error if the
// size that Read returns does not match shape and type.
func Write(w io.Writer, entries []Entry, meta map[string]string) (int64, error) {
	head, placed, err := Lay(entries, meta)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(head)
	written := int64(n)
	for _, e := range placed {
		if err != nil {
			break
		}
		var data []byte
		if data, err = e.data(); err != nil {
			break
		}
		n, err = w.Write(data)
		written += int64(n)
	}
	return written, err
}

func (e *Placed) data() ([]byte, error) {
	if e.Read == nil {
		return e.Data, nil
	}
	data, err := e.Read()
	if err == nil && int64(len(data)) != e.Size {
		err = e.wrong(len(data))
	}
	if err != nil {
		return nil, fmt.Errorf("safetensors: tensor %.100q: %w", e.Name, err)
	}
	return data, nil
}

func (e *Placed) wrong(size int) error {
	return fmt.Errorf("%s%v needs %d bytes: data has %d", e.DType, e.Shape, e.Size, size)
}

// check returns an error if the entry cannot be written. It sets e.Size.
func (e *Placed) check() (err error) {
	if e.Name == metadata {
		return fmt.Errorf("name is reserved")
	}
	if !utf8.ValidString(e.Name) {
		return fmt.Errorf("name is not UTF-8")
	}
	if e.Size, err = e.DType.bytes(e.Shape); err != nil {
		return err
	}
	if e.Read == nil && int64(len(e.Data)) != e.Size {
		return e.wrong(len(e.Data))
	}
	return nil
}

// compareLayout compares two tensors for their order in the data section. A tensor whose size is a
// multiple of the alignment, 64 bytes, comes before a tensor whose size is not. If both sizes are
// multiples, or neither is, the tensor of the wider type comes first. If compareLayout returns 0,
// the tensors stay in the order of their names.
func compareLayout(a, b Placed) int {
	ragged := func(e Placed) int64 { return min(e.Size%alignment, 1) }
	return cmp.Or(cmp.Compare(ragged(a), ragged(b)), -cmp.Compare(a.DType.Bits(), b.DType.Bits()))
}

// encodeHeader returns the header length in 8 bytes, followed by the header. entries are sorted by
// name; begin maps a name to the offset of its data.
func encodeHeader(entries []Placed, begin map[string]int64, meta map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, 8))
	b.WriteByte('{')
	if len(meta) > 0 {
		b.WriteString(`"` + metadata + `":{`)
		for i, key := range slices.Sorted(maps.Keys(meta)) {
			if i > 0 {
				b.WriteByte(',')
			}
			if !utf8.ValidString(key) || !utf8.ValidString(meta[key]) {
				return nil, fmt.Errorf("safetensors: %s key %.100q: not UTF-8", metadata, key)
			}
			writeString(&b, key)
			b.WriteByte(':')
			writeString(&b, meta[key])
		}
		b.WriteByte('}')
	}
	for i, e := range entries {
		if i > 0 || len(meta) > 0 {
			b.WriteByte(',')
		}
		writeString(&b, e.Name)
		b.WriteString(`:{"dtype":"` + string(e.DType) + `","shape":[`)
		for k, n := range e.Shape {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatInt(n, 10))
		}
		fmt.Fprintf(&b, `],"data_offsets":[%d,%d]}`, begin[e.Name], begin[e.Name]+e.Size)
	}
	b.WriteByte('}')
	for b.Len()%alignment != 0 {
		b.WriteByte(' ')
	}
	if b.Len()-8 > maxHeader {
		return nil, fmt.Errorf("safetensors: header of %d bytes: limit is %d", b.Len()-8, maxHeader)
	}
	head := b.Bytes()
	binary.LittleEndian.PutUint64(head, uint64(len(head)-8))
	return head, nil
}

func writeString(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

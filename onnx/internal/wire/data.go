package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Len returns the number of elements: the product of Dims, or 1 if Dims is empty. It returns an
// error if a dimension is negative or the product overflows.
func (t *Tensor) Len() (int64, error) {
	n, err := t.elements()
	return n, t.wrap(err)
}

// Size returns the number of bytes of the elements. Elements of 4 or 2 bits are packed into bytes,
// lowest bits first, and the last byte may have unused bits. Size returns an error for tensors of
// strings.
func (t *Tensor) Size() (int64, error) {
	n, err := t.size()
	return n, t.wrap(err)
}

// Bytes returns the elements in row-major order, little-endian. The result has Size bytes; booleans
// are 0 or 1. Raw data and packed floats are not copied: the result then shares the bytes of the
// file and must not be modified. Bytes returns an error if the data do not fit the type and the
// shape.
func (t *Tensor) Bytes() ([]byte, error) {
	b, err := t.bytes()
	return b, t.wrap(err)
}

// Strings returns the elements of a string tensor in row-major order. They share the bytes of the
// file, and may not be UTF-8. Strings returns an error for other tensors.
func (t *Tensor) Strings() ([]string, error) {
	s, err := t.strings()
	return s, t.wrap(err)
}

// Location is a range of bytes in another file.
type Location struct {
	Path     string // slash-separated, relative to the model's folder; not empty and without NUL, otherwise not checked
	Offset   int64  // from the start of the file; not negative
	Length   int64  // number of bytes, the tensor's Size
	Checksum string // SHA-1 in hexadecimal, or empty
}

// Location returns the place of the elements in another file, as a range of bytes. Offset+Length
// does not overflow. Location returns an error if the elements are in this file, or if the entries
// of external data are not valid.
func (t *Tensor) Location() (Location, error) {
	l, err := t.location()
	return l, t.wrap(err)
}

func (t *Tensor) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("tensor %s: %w", quote(t.Name), err)
}

// quote returns a name for an error message, as a quoted Go string of printable ASCII. Only the
// first 80 bytes of a longer name are quoted, without invalid UTF-8 and with … at the end.
func quote(name string) string {
	const most = 80
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strconv.QuoteToASCII(name)
}

func (t *Tensor) elements() (int64, error) {
	for i, d := range t.Dims {
		if d < 0 {
			return 0, fmt.Errorf("dims[%d] is %d", i, d)
		}
	}
	if slices.Contains(t.Dims, 0) {
		return 0, nil
	}
	n := uint64(1)
	for _, d := range t.Dims {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, errors.New("more than 2^63 elements")
		}
		n = lo
	}
	return int64(n), nil
}

func (t *Tensor) size() (int64, error) {
	n, err := t.elements()
	if err != nil {
		return 0, err
	}
	if t.Type.Bits() == 0 {
		return 0, fmt.Errorf("elements of %v have no size", t.Type)
	}
	hi, lo := bits.Mul64(uint64(n), uint64(t.Type.Bits()))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, fmt.Errorf("%d elements of %v are too many", n, t.Type)
	}
	return int64((lo + 7) / 8), nil
}

func (t *Tensor) bytes() ([]byte, error) {
	size, err := t.size()
	if err != nil {
		return nil, err
	}
	c := dtypes[t.Type].column
	if err := t.only(c); err != nil {
		return nil, err
	}
	if t.counts[c] > 0 {
		return t.decode(c, size)
	}
	if int64(len(t.Raw)) != size {
		return nil, fmt.Errorf("%d bytes of raw_data for %s", len(t.Raw), t.want(size))
	}
	if t.Type == Bool {
		return normalised(t.Raw), nil
	}
	return t.Raw, nil
}

func (t *Tensor) strings() ([]string, error) {
	n, err := t.elements()
	if err != nil {
		return nil, err
	}
	if t.Type != String {
		return nil, fmt.Errorf("elements of %v are not strings", t.Type)
	}
	if err := t.only(stringData); err != nil {
		return nil, err
	}
	if len(t.Raw) > 0 {
		return nil, errors.New("raw_data for STRING")
	}
	if count := t.counts[stringData]; int64(count) != n {
		return nil, fmt.Errorf("%d values of string_data for %d elements", count, n)
	}
	out := make([]string, 0, n)
	err = t.fields(stringData, func(f field) error {
		out = append(out, view(f.data))
		return nil
	})
	if err == nil && int64(len(out)) != n {
		err = errChanged
	}
	return out, err
}

// errChanged is returned if the file's bytes have changed since the tensor was read.
var errChanged = errors.New("the file changed while it was read")

// only returns an error unless all elements are in this file, either in raw_data or in column c. A
// column is a typed field, such as int32_data.
func (t *Tensor) only(c column) error {
	switch {
	case t.Outside:
		return errors.New("the elements are in another file")
	case t.segment:
		return errors.New("one segment of a split tensor")
	case t.counts[c] > 0 && len(t.Raw) > 0:
		return fmt.Errorf("both raw_data and %s", columns[c].name)
	}
	for other, n := range t.counts {
		if n > 0 && column(other) != c {
			return fmt.Errorf("%s for %v", columns[other].name, t.Type)
		}
	}
	return nil
}

func (t *Tensor) want(size int64) string {
	return fmt.Sprintf("the %d bytes of %v%v", size, t.Type, t.Dims[:min(len(t.Dims), 16)])
}

// decode returns the values of column c, such as int32_data, as little-endian elements. The
// elements have `size` bytes in total.
func (t *Tensor) decode(c column, size int64) ([]byte, error) {
	width := int64(max(t.Type.Bits()/8, 1)) // bytes of a stored value
	if t.Type == Complex64 || t.Type == Complex128 {
		width /= 2
	}
	count := int64(t.counts[c])
	// count bounds size by what the file holds before anything is allocated.
	if count != size/width {
		return nil, fmt.Errorf("%d values of %s for %s", count, columns[c].name, t.want(size))
	}
	if size > math.MaxInt {
		return nil, errors.New("more bytes than this machine can address")
	}
	var out []byte
	typ := columns[c].typ
	err := t.fields(c, func(f field) error {
		if typ != protowire.VarintType && f.typ == protowire.BytesType && int64(len(f.data)) == size {
			out = f.data
			return nil
		}
		if out == nil {
			out = make([]byte, 0, size)
		}
		var bad error
		err := each(typ, f, func(v uint64) {
			if c == int32Data {
				v = uint64(int64(int32(v)))
			}
			if width < 8 && !fits(v, 8*width, c) && bad == nil {
				bad = fmt.Errorf("%s[%d] is %d, not of %v", columns[c].name, int64(len(out))/width, int64(v), t.Type)
			}
			if t.Type == Bool && v != 0 {
				v = 1
			}
			out = appendLow(out, v, int(width))
		})
		if err != nil {
			return err
		}
		return bad
	})
	if err == nil && int64(len(out)) != size {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// fits reports whether v fits n bits. v is a value of column c, such as int32_data. A value of
// int32_data may be a signed number or a bit pattern.
func fits(v uint64, n int64, c column) bool {
	return v < 1<<n || c == int32Data && int64(v) < 0 && int64(v) >= -1<<(n-1)
}

func appendLow(b []byte, v uint64, bytes int) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], v)
	return append(b, all[:bytes]...)
}

// normalised returns b if all bytes are 0 or 1, or else a copy in which larger bytes are 1.
func normalised(b []byte) []byte {
	for i, v := range b {
		if v > 1 {
			b = append([]byte(nil), b...)
			for j := i; j < len(b); j++ {
				b[j] = min(b[j], 1)
			}
			break
		}
	}
	return b
}

func (t *Tensor) location() (Location, error) {
	size, err := t.size()
	if err != nil {
		return Location{}, err
	}
	for c, n := range t.counts {
		if n > 0 {
			return Location{}, fmt.Errorf("both external_data and %s", columns[c].name)
		}
	}
	switch {
	case !t.Outside:
		return Location{}, errors.New("the elements are in this file")
	case t.segment:
		return Location{}, errors.New("one segment of a split tensor")
	case len(t.Raw) > 0:
		return Location{}, errors.New("both external_data and raw_data")
	}
	l := Location{Length: size}
	length := size
	seen := make(map[string]bool)
	for _, e := range t.External {
		if seen[e.Key] {
			return Location{}, fmt.Errorf("external_data has two entries %s", quote(e.Key))
		}
		seen[e.Key] = true
		switch e.Key {
		case "location":
			l.Path = e.Value
		case "offset":
			l.Offset, err = position(e)
		case "length":
			length, err = position(e)
		case "checksum":
			l.Checksum = e.Value
		}
		if err != nil {
			return Location{}, err
		}
	}
	switch {
	case l.Path == "":
		return Location{}, errors.New("external_data has no location")
	case strings.ContainsRune(l.Path, 0):
		return Location{}, fmt.Errorf("external_data location %s has a NUL", quote(l.Path))
	case length != size:
		return Location{}, fmt.Errorf("external_data length %d for %s", length, t.want(size))
	case l.Offset > math.MaxInt64-size:
		return Location{}, fmt.Errorf("external_data offset %d is too large", l.Offset)
	}
	return l, nil
}

// position parses the value of e, which is a number of bytes. It returns an error if the value is
// negative or not a number.
func position(e Entry) (int64, error) {
	n, err := strconv.ParseInt(e.Value, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("external_data %s is %s, not a number of bytes", e.Key, quote(e.Value))
	}
	return n, nil
}

package record

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// bincode reads a binary record of burn, up to version 0.21, in the encoding of the Rust library
// bincode. The encoding has no names, types or end marks. Unsigned integers up to 250 take one
// byte. A larger integer takes 2, 4 or 8 bytes, after a byte 251, 252 or 253. Signed integers are
// zigzag encoded (0, -1, 1, -2). Texts, bytes and lists are preceded by their length. An
// enumeration begins with the number of its variant, and an option with a byte.
//
// The file does not have the structure of the module, but parameters are recognisable. A parameter
// begins with its id, a text of 8 to 36 letters, digits and hyphens. A tensor follows, whose number
// of bytes matches its shape. So the file is read as a sequence of parameters with a few bytes of
// options and lengths in between. Tensors are named by their number, padded to equal length: "00",
// "01".
type bincode struct {
	bigEndian
	said   burnMetadata
	minor  int      // minor version of burn, 0.x
	dtypes []string // element types by number; nil before types were written
	effort int      // number of elements that may still be read in vain
}

// maxBetween is the largest number of bytes between two parameters. These bytes hold options and
// lengths. If there are more, the file is rejected.
const maxBetween = 256

// isBincode reports whether file starts with metadata, whose first field is the name of a type.
func isBincode(file []byte) bool {
	b := &bincode{bigEndian: bigEndian{file: file}}
	name, err := b.text()
	return err == nil && rustTypes[name] != ""
}

// number reads an unsigned integer.
func (b *bincode) number() (uint64, error) {
	head, err := b.take(1)
	if err != nil {
		return 0, err
	}
	if head[0] <= 250 {
		return uint64(head[0]), nil
	}
	if head[0] > 253 {
		return 0, b.errorf("an integer of 128 bits")
	}
	raw, err := b.take(2 << (head[0] - 251))
	return littleEndian(raw), err
}

func (b *bincode) text() (string, error) {
	raw, err := b.blob()
	if err == nil {
		err = checkText(raw)
	}
	return string(raw), err
}

// blob reads a length and that many bytes.
func (b *bincode) blob() ([]byte, error) {
	n, err := b.number()
	if err != nil {
		return nil, err
	}
	return b.take(n)
}

func readBincode(w *rt.Weights, file []byte) error {
	w.SetMetadata(noteNoSum, "true")
	b := &bincode{bigEndian: bigEndian{file: file}, effort: effortRatio * len(file)}
	for _, field := range []*string{&b.said.float, &b.said.int, &b.said.format, &b.said.version, &b.said.settings} {
		var err error
		if *field, err = b.text(); err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
	}
	if err := b.setVersion(); err != nil {
		return err
	}
	var params []param
	between := 0
	for b.pos < len(file) {
		from := b.pos
		p, err := b.param()
		switch {
		case err == nil:
			params = append(params, p)
			between = 0
			continue
		case errors.Is(err, errQuantised) || errors.Is(err, errEffort):
			return fmt.Errorf("parameter %d: %w", len(params), err)
		}
		b.pos = from + 1
		if between++; between > maxBetween {
			return fmt.Errorf("byte %d: no parameter is in %d bytes", from, between)
		}
	}
	if len(params) == 0 {
		return errors.New("the file has no parameters")
	}
	digits := len(strconv.Itoa(len(params) - 1))
	for i, p := range params {
		w.AddRaw(fmt.Sprintf("%0*d", digits, i), p.dtype, p.shape, p.raw)
	}
	return w.Err()
}

// effortRatio limits the number of elements that are read in attempts that fail. For a file of n
// bytes, the limit is effortRatio·n elements. A file that needs more is rejected.
const effortRatio = 8

var errEffort = errors.New("too many bytes look like a parameter but are not one")

// bincodeTypes lists the element types by number.
var bincodeTypes = []struct {
	// the first minor version of burn (0.x) that uses these numbers
	since int
	names string
}{
	{17, "F64 F32 Flex32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 Bool QFloat"},
	{16, "F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 Bool QFloat"},
	{14, "F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U8 Bool QFloat"},
}

// boolStoresSince is the first minor version of burn in which the type bool says how the bools are
// stored.
const boolStoresSince = 21

var boolStores = []string{"Native", "U8", "U32"}

// setVersion selects the numbering of types for the version of burn in the metadata. It returns an
// error if the version is not 0.x.
func (b *bincode) setVersion() error {
	parts := strings.Split(b.said.version, ".")
	if len(parts) < 3 || parts[0] != "0" {
		return fmt.Errorf("version %.100q of burn is not supported", b.said.version)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil || minor < 0 {
		return fmt.Errorf("version %.100q of burn is not supported", b.said.version)
	}
	b.minor = minor
	for _, t := range bincodeTypes {
		if minor >= t.since {
			b.dtypes = strings.Fields(t.names)
			break
		}
	}
	return nil
}

type param struct {
	dtype string
	shape []int
	raw   []byte
}

// param reads a parameter. It returns an error if no parameter begins here.
func (b *bincode) param() (p param, err error) {
	id, err := b.text()
	if err != nil {
		return p, err
	}
	if len(id) < minID || len(id) > maxID || strings.ContainsFunc(id, notOfID) {
		return p, b.errorf("no id of a parameter")
	}
	if b.dtypes == nil {
		return b.values()
	}
	if p.raw, err = b.blob(); err != nil {
		return p, err
	}
	if p.shape, err = b.shape(); err != nil {
		return p, err
	}
	if p.dtype, err = b.dtype(); err != nil {
		return p, err
	}
	n, err := rt.Elems(p.shape)
	if err == nil && n != len(p.raw)/elements[p.dtype].width || len(p.raw)%elements[p.dtype].width != 0 {
		err = b.errorf("%d bytes are not %s%v", len(p.raw), p.dtype, p.shape)
	}
	return p, err
}

// minID and maxID are the minimum and the maximum length of a parameter's id in bytes. The id is a
// number in Base32 or a UUID.
const minID, maxID = 8, 36

func notOfID(r rune) bool {
	return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-')
}

func (b *bincode) shape() ([]int, error) {
	rank, err := b.number()
	if err != nil || rank > maxRank {
		return nil, b.errorf("no shape")
	}
	shape := make([]int, rank)
	for i := range shape {
		n, err := b.number()
		if err != nil || n > math.MaxInt {
			return nil, b.errorf("no shape")
		}
		shape[i] = int(n)
	}
	return shape, nil
}

// dtype reads an element type and returns its name.
func (b *bincode) dtype() (string, error) {
	n, err := b.number()
	if err != nil || n >= uint64(len(b.dtypes)) {
		return "", b.errorf("no type")
	}
	name := b.dtypes[n]
	if name == "Bool" && b.minor >= boolStoresSince {
		n, err := b.number()
		if err != nil || n >= uint64(len(boolStores)) {
			return "", b.errorf("no type")
		}
		return boolType(boolStores[n])
	}
	return burnType(name)
}

// values reads a tensor in the older form: a list of elements, then a shape. The file does not say
// the type of the elements, so values tries floats, then integers, then bools.
func (b *bincode) values() (p param, err error) {
	from := b.pos
	for _, read := range []struct {
		dtype   string
		element func() (uint64, error)
	}{
		{rustTypes[b.said.float], b.float(rustTypes[b.said.float])},
		{rustTypes[b.said.int], b.signed},
		{"bool", func() (uint64, error) { raw, err := b.take(1); return littleEndian(raw), err }},
	} {
		b.pos = from
		if read.dtype == "" {
			continue
		}
		p = param{dtype: read.dtype}
		n, err := b.number()
		if err != nil || n > uint64(len(b.file)-b.pos) {
			return p, b.errorf("no list of elements")
		}
		for range n {
			if b.effort--; b.effort < 0 {
				return p, errEffort
			}
			x, err := read.element()
			if err != nil {
				break
			}
			p.raw = appendLittleEndian(p.raw, x, elements[p.dtype].width)
		}
		if p.shape, err = b.shape(); err != nil {
			continue
		}
		if size, err := rt.Elems(p.shape); err == nil && uint64(size) == n && len(p.raw) == size*elements[p.dtype].width {
			b.effort += size
			return p, nil
		}
	}
	return p, b.errorf("no tensor")
}

// float returns a function that reads a float and returns its bits. The bits of a 16-bit float are
// encoded as a variable-length integer, and the bits of other floats as little-endian bytes of
// their width.
func (b *bincode) float(dtype string) func() (uint64, error) {
	width := elements[dtype].width
	if width == 2 {
		return b.number
	}
	return func() (uint64, error) {
		raw, err := b.take(uint64(width))
		return littleEndian(raw), err
	}
}

// signed reads a signed integer. It returns the bits of its two's complement.
func (b *bincode) signed() (uint64, error) {
	x, err := b.number()
	return x>>1 ^ -(x & 1), err
}

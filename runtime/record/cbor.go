package record

import "math"

// cbor reads CBOR (RFC 8949). It rejects these: tags, texts of indefinite length, bytes of
// indefinite length, 16-bit floats, and simple values other than bools and null.
type cbor struct{ bigEndian }

const (
	cborUnsigned = iota
	cborNegative
	cborBlob
	cborText
	cborList
	cborTable
	cborTag
	cborSimple
)

// The low 5 bits of a first byte are a number if they are below cborByte. Otherwise they give the
// width of the number that follows.
const (
	cborByte     = 24 // 1 byte; 25 to 27 mean 2, 4 and 8 bytes
	cborLong     = 27
	cborUnending = 31

	cborBreak = 0xff
)

const (
	cborFalse = 20
	cborTrue  = 21
	cborNull  = 22
)

func (c *cbor) next() (token, error) {
	head, err := c.number(1)
	if err != nil {
		return token{}, err
	}
	major, low := head>>5, head&31
	argument, width := low, 0
	switch {
	case low >= cborByte && low <= cborLong:
		width = 1 << (low - cborByte)
		if argument, err = c.number(width); err != nil {
			return token{}, err
		}
	case low == cborUnending && (major == cborList || major == cborTable):
		return token{kind: cborContainers[major], n: -1}, nil
	case low > cborLong:
		return token{}, c.errorf("values that begin with %#x are not read", head)
	}
	switch major {
	case cborUnsigned:
		return token{kind: integer, bits: argument}, nil
	case cborNegative:
		if argument > math.MaxInt64 {
			return token{}, c.errorf("an integer below -2^63")
		}
		return token{kind: integer, bits: ^argument, negative: true}, nil
	case cborBlob:
		return c.string(blob, argument)
	case cborText:
		return c.string(text, argument)
	case cborList, cborTable:
		return c.container(cborContainers[major], argument)
	case cborSimple:
		switch {
		case head&31 == cborFalse || head&31 == cborTrue:
			return token{kind: boolean, bits: low - cborFalse}, nil
		case low == cborNull:
			return token{kind: null}, nil
		case width == 4:
			return token{kind: single, bits: argument}, nil
		case width == 8:
			return token{kind: double, bits: argument}, nil
		}
	}
	return token{}, c.errorf("values that begin with %#x are not read", head)
}

var cborContainers = map[uint64]kind{cborList: list, cborTable: table}

func (c *cbor) more(container token, i int) (bool, error) {
	if container.n >= 0 {
		return i < container.n, nil
	}
	if c.pos == len(c.file) {
		return false, c.errorf("want an item or the end of %v: %w", container.kind, errShort)
	}
	if c.file[c.pos] == cborBreak {
		c.pos++
		return false, nil
	}
	return true, nil
}

func (c *cbor) key() (string, error) { return keyOf(c.next()) }

package record

import "fmt"

type bigEndian struct {
	file []byte
	pos  int
}

func (b *bigEndian) offset() int { return b.pos }
func (b *bigEndian) left() int   { return len(b.file) - b.pos }

func (b *bigEndian) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", b.pos, fmt.Errorf(format, args...))
}

func (b *bigEndian) end() error {
	if left := b.left(); left > 0 {
		return b.errorf("%d bytes after the end", left)
	}
	return nil
}

// take returns the next n bytes.
func (b *bigEndian) take(n uint64) ([]byte, error) {
	if left := b.left(); n > uint64(left) {
		return nil, b.errorf("want %d bytes, %d are left: %w", n, left, errShort)
	}
	from := b.pos
	b.pos += int(n)
	return b.file[from:b.pos:b.pos], nil
}

// number reads a big-endian number of width bytes.
func (b *bigEndian) number(width int) (x uint64, err error) {
	raw, err := b.take(uint64(width))
	for _, c := range raw {
		x = x<<8 | uint64(c)
	}
	return x, err
}

// string reads n bytes as a token of kind k, which is text or blob.
func (b *bigEndian) string(k kind, n uint64) (token, error) {
	raw, err := b.take(n)
	if err == nil && k == text {
		err = checkText(raw)
	}
	return token{kind: k, text: raw}, err
}

// container returns the start token of a list of n items or a table of n pairs. It returns an error
// if fewer than n bytes remain.
func (b *bigEndian) container(k kind, n uint64) (token, error) {
	if left := b.left(); n > uint64(left) {
		return token{}, b.errorf("%d items, %d bytes are left: %w", n, left, errShort)
	}
	return token{kind: k, n: int(n)}, nil
}

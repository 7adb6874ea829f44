package record

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

type kind uint8

const (
	null    kind = iota
	boolean      // bits is 1 or 0
	integer      // bits hold it in two's complement
	single       // bits of a float32
	double       // bits of a float64
	decimal      // text holds a JSON number
	text
	blob
	list
	table
)

var kindNames = [...]string{
	"nothing", "a truth value", "an integer", "a float32", "a float64", "a number", "a text", "bytes", "a list", "a table",
}

func (k kind) String() string { return kindNames[k] }

// token is a value, or the start of a list or table.
type token struct {
	kind     kind
	negative bool   // sign of an integer
	n        int    // number of items of a list or pairs of a table; -1 if an end mark follows
	bits     uint64 // of bools, integers and floats
	text     []byte // of texts, blobs and decimals; may share the source's memory
}

// integer returns the bits of an integer token in two's complement, and whether the integer is
// negative. It returns an error if t is not an integer or does not fit 64 bits.
func (t token) integer() (bits uint64, negative bool, err error) {
	switch t.kind {
	case integer:
		return t.bits, t.negative, nil
	case decimal:
		if digits := t.digits(); digits[0] == '-' {
			x, err := strconv.ParseInt(digits, 10, 64)
			if err == nil {
				return uint64(x), x < 0, nil
			}
		} else if x, err := strconv.ParseUint(digits, 10, 64); err == nil {
			return x, false, nil
		}
		return 0, false, fmt.Errorf("%.100s is not an integer of 64 bits", t.text)
	}
	return 0, false, fmt.Errorf("want an integer, have %v", t.kind)
}

// float returns the value of a numeric token as a float of `bits` bits. The value is rounded once.
func (t token) float(bits int) (float64, error) {
	switch t.kind {
	case single:
		return float64(math.Float32frombits(uint32(t.bits))), nil
	case double:
		x := math.Float64frombits(t.bits)
		if bits == 32 {
			x = float64(float32(x))
		}
		return x, nil
	case decimal:
		x, err := strconv.ParseFloat(t.digits(), bits)
		if err != nil {
			err = fmt.Errorf("%.100s does not fit %d bits", t.text, bits)
		}
		return x, err
	}
	return 0, fmt.Errorf("want a number, have %v", t.kind)
}

// digits returns the text of a decimal without copying.
func (t token) digits() string { return unsafe.String(unsafe.SliceData(t.text), len(t.text)) }

// source is a self-describing text that contains one value.
type source interface {
	// next returns the next token.
	next() (token, error)

	// more reports whether item i of a list, or pair i of a table, follows. If so, it reads the
	// separator before the item or pair. Otherwise it reads the end of the container.
	more(container token, i int) (bool, error)

	// key returns the key of a pair.
	key() (string, error)

	// offset returns the position of the next token, and left the number of remaining bytes.
	offset() int
	left() int

	// end returns an error if something follows.
	end() error
}

// These are the limits of a file. maxDepth is the largest nesting depth, and maxName the largest
// length of a name in bytes. The names together may have freeNames bytes plus nameRatio times the
// size of the file.
const (
	maxDepth  = 128
	maxName   = 1 << 12
	nameRatio = 16
	freeNames = 1 << 20
)

type walker struct {
	source
	depth int
}

// at returns an error with the position in the source.
func (w *walker) at(format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", w.offset(), fmt.Errorf(format, args...))
}

// enter begins the items of a list or the pairs of a table. It returns an error if they are nested
// too deeply.
func (w *walker) enter() error {
	if w.depth++; w.depth > maxDepth {
		return w.at("more than %d values in one another", maxDepth)
	}
	return nil
}

func (w *walker) leave() { w.depth-- }

// each calls f(i) for each item i of a list, or each pair i of a table, from index `from` on. f
// reads the item or pair.
func (w *walker) each(container token, from int, f func(i int) error) error {
	if err := w.enter(); err != nil {
		return err
	}
	defer w.leave()
	for i := from; ; i++ {
		more, err := w.more(container, i)
		if err != nil || !more {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
}

func (w *walker) items(container token, f func(i int) error) error { return w.each(container, 0, f) }

// fields calls f with the key of each pair of a table. f reads the value. fields begins with pair
// `from`.
func (w *walker) fields(container token, from int, f func(key string) error) error {
	return w.each(container, from, func(int) error {
		key, err := w.key()
		if err != nil {
			return err
		}
		return f(key)
	})
}

// skip skips the rest of the value whose first token is t.
func (w *walker) skip(t token) error {
	switch t.kind {
	case list:
		return w.items(t, func(int) error { return w.skipNext() })
	case table:
		return w.fields(t, 0, func(string) error { return w.skipNext() })
	}
	return nil
}

func (w *walker) skipNext() error {
	t, err := w.next()
	if err != nil {
		return err
	}
	return w.skip(t)
}

func (w *walker) expect(k kind) (token, error) {
	t, err := w.next()
	if err == nil && t.kind != k {
		err = w.at("want %v, have %v", k, t.kind)
	}
	return t, err
}

func (w *walker) expectText() (string, error) {
	t, err := w.expect(text)
	return string(t.text), err
}

// expectKey reads key i of a table. It returns an error unless the key is `want`.
func (w *walker) expectKey(container token, i int, want string) error {
	more, err := w.more(container, i)
	if err != nil {
		return err
	}
	if !more {
		return w.at("want %q", want)
	}
	got, err := w.key()
	if err == nil && got != want {
		err = w.at("want %q, have %.100q", want, got)
	}
	return err
}

// expectNoMore reads the end of a table or list with n pairs or items. It returns an error if
// there are more.
func (w *walker) expectNoMore(container token, n int) error {
	more, err := w.more(container, n)
	if err == nil && more {
		err = w.at("more than %d items", n)
	}
	return err
}

func (w *walker) expectShape() ([]int, error) {
	t, err := w.expect(list)
	if err != nil {
		return nil, err
	}
	var shape []int
	err = w.items(t, func(i int) error {
		n, err := w.expectSize()
		if n > math.MaxInt {
			err = w.at("extent %d does not fit an int", n)
		}
		if i >= maxRank {
			err = w.at("more than %d axes", maxRank)
		}
		shape = append(shape, int(n))
		return err
	})
	return shape, err
}

const maxRank = 128

// expectSize reads a nonnegative integer that fits an int64.
func (w *walker) expectSize() (int64, error) {
	t, err := w.next()
	if err != nil {
		return 0, err
	}
	bits, negative, err := t.integer()
	if err == nil && (negative || bits > math.MaxInt64) {
		err = errors.New("want an integer from 0 to 2^63-1")
	}
	if err != nil {
		return 0, w.at("%w", err)
	}
	return int64(bits), nil
}

// checkText returns an error unless a text is UTF-8.
func checkText(t []byte) error {
	if !utf8.Valid(t) {
		return errors.New("a string is not UTF-8")
	}
	return nil
}

// names limits the memory of the names of tensors. A tensor's name consists of all keys on its
// path. With deeply nested keys, the names could take memory in proportion to the square of the
// file's size. left is the number of bytes that are still allowed.
type names struct{ left int }

// newNames returns the memory that the names of a file may take. `size` is the size of the file in bytes.
func newNames(size int) *names {
	return &names{freeNames + nameRatio*min(size, math.MaxInt/nameRatio-freeNames)}
}

// join returns the name of `key` inside the table or list called `above`. It returns an error if
// the name is too long or the names together take too much memory.
func (n *names) join(above, key string) (string, error) {
	if len(above)+len(key) >= maxName {
		return "", fmt.Errorf("%.100q: a name exceeds %d bytes", above, maxName)
	}
	if n.left -= len(above) + len(key) + 1; n.left < 0 {
		return "", errors.New("names take too much memory")
	}
	if above == "" {
		return key, nil
	}
	return above + "." + key, nil
}

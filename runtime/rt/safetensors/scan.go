package safetensors

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the subset of JSON that headers use. In an index it reads any JSON value. Its
// recursion is bounded, so deeply nested input cannot exhaust the stack.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("safetensors: header byte %d: %s", s.at, fmt.Sprintf(format, args...))
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// next skips white space and returns the next byte without consuming it, or 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) expect(c byte) error {
	if got := s.next(); got != c {
		return s.unexpected(strconv.QuoteRune(rune(c)))
	}
	s.at++
	return nil
}

func (s *scanner) unexpected(want string) error {
	if s.at == len(s.text) {
		return s.errorf("end of header: %s expected", want)
	}
	return s.errorf("%q: %s expected", s.text[s.at:s.at+1], want)
}

// object reads an object. It calls member for every key, to read the key's value.
func (s *scanner) object(member func(key string) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	if s.next() == '}' {
		s.at++
		return nil
	}
	for {
		key, err := s.string()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if s.next() != ',' {
			return s.expect('}')
		}
		s.at++
	}
}

func (s *scanner) header(h *Header) error {
	if len(s.text) == 0 || s.text[0] != '{' {
		return s.unexpected("'{'")
	}
	seen := false
	err := s.object(func(key string) error {
		if key != metadata {
			t, err := s.tensor(key)
			h.Tensors = append(h.Tensors, t)
			return err
		}
		if seen {
			return s.errorf("%s appears twice", metadata)
		}
		seen = true
		h.Metadata = map[string]string{}
		return s.metadata(h.Metadata)
	})
	if err != nil {
		return err
	}
	if s.space(); s.at < len(s.text) {
		return s.unexpected("end of header")
	}
	return nil
}

func (s *scanner) metadata(m map[string]string) error {
	return s.object(func(key string) error {
		if _, twice := m[key]; twice {
			return s.errorf("%s key %.100q appears twice", metadata, key)
		}
		value, err := s.string()
		m[key] = value
		return err
	})
}

// tensor reads {"dtype": …, "shape": […], "data_offsets": [begin, end]}, with the members in any
// order.
func (s *scanner) tensor(name string) (Tensor, error) {
	t := Tensor{Name: name}
	var dtype, shape, offsets bool
	once := func(key string, seen *bool) error {
		if *seen {
			return s.errorf("tensor %.100q: key %.100q appears twice", name, key)
		}
		*seen = true
		return nil
	}
	err := s.object(func(key string) error {
		switch key {
		case "dtype":
			if err := once(key, &dtype); err != nil {
				return err
			}
			text, err := s.string()
			t.DType = DType(text)
			return err
		case "shape":
			if err := once(key, &shape); err != nil {
				return err
			}
			var err error
			t.Shape, err = s.ints(maxRank)
			return err
		case "data_offsets":
			if err := once(key, &offsets); err != nil {
				return err
			}
			pair, err := s.ints(2)
			if err != nil {
				return err
			}
			if len(pair) != 2 {
				return s.errorf("tensor %.100q: data_offsets has %d numbers: 2 expected", name, len(pair))
			}
			t.Begin, t.End = pair[0], pair[1]
			return nil
		}
		return s.errorf("tensor %.100q: unknown key %.100q", name, key)
	})
	if err == nil && !(dtype && shape && offsets) {
		err = s.errorf("tensor %.100q: dtype, shape and data_offsets expected", name)
	}
	return t, err
}

func (s *scanner) ints(limit int) ([]int64, error) {
	if err := s.expect('['); err != nil {
		return nil, err
	}
	if s.next() == ']' {
		s.at++
		return nil, nil
	}
	var list []int64
	for {
		n, err := s.int()
		if err != nil {
			return nil, err
		}
		if len(list) == limit {
			return nil, s.errorf("more than %d numbers", limit)
		}
		list = append(list, n)
		if s.next() != ',' {
			return list, s.expect(']')
		}
		s.at++
	}
}

// int reads an integer from 0 to 2⁶³-1, without sign, fraction or exponent.
func (s *scanner) int() (int64, error) {
	s.space()
	start := s.at
	var n int64
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		digit := int64(s.text[s.at] - '0')
		if n > (math.MaxInt64-digit)/10 {
			return 0, s.errorf("integer does not fit 63 bits")
		}
		n = n*10 + digit
		s.at++
	}
	if s.at == start {
		return 0, s.unexpected("an integer of 0 or more")
	}
	if s.text[start] == '0' && s.at-start > 1 {
		return 0, s.errorf("integer starts with 0")
	}
	return n, nil
}

func (s *scanner) string() (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	start := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			text := s.text[start:s.at]
			if !utf8.Valid(text) {
				return "", s.errorf("string is not UTF-8")
			}
			s.at++
			return string(text), nil
		case c == '\\':
			return s.escaped(append([]byte(nil), s.text[start:s.at]...))
		case c < ' ':
			return "", s.errorf("control character in a string")
		}
		s.at++
	}
	return "", s.unexpected(`'"'`)
}

var escapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escaped reads the rest of a string, up to and including the closing quote. text is the beginning
// of the string, which has been read.
func (s *scanner) escaped(text []byte) (string, error) {
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c == '"' {
			if !utf8.Valid(text) {
				return "", s.errorf("string is not UTF-8")
			}
			s.at++
			return string(text), nil
		}
		if c < ' ' {
			return "", s.errorf("control character in a string")
		}
		s.at++
		if c != '\\' {
			text = append(text, c)
			continue
		}
		if s.at == len(s.text) {
			break
		}
		c = s.text[s.at]
		s.at++
		if plain, ok := escapes[c]; ok {
			text = append(text, plain)
			continue
		}
		if c != 'u' {
			return "", s.errorf("unknown escape in a string")
		}
		r, err := s.rune()
		if err != nil {
			return "", err
		}
		text = utf8.AppendRune(text, r)
	}
	return "", s.unexpected(`'"'`)
}

// rune reads the hexadecimal digits after \u. If they are half of a surrogate pair, it also reads
// the escape of the other half.
func (s *scanner) rune() (rune, error) {
	r, err := s.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if s.at+2 <= len(s.text) && s.text[s.at] == '\\' && s.text[s.at+1] == 'u' {
		s.at += 2
		low, err := s.hex()
		if err != nil {
			return 0, err
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, nil
		}
	}
	return 0, s.errorf("half of a surrogate pair in a string")
}

func (s *scanner) hex() (rune, error) {
	if s.at+4 > len(s.text) {
		return 0, s.errorf("4 hexadecimal digits expected")
	}
	n, err := strconv.ParseUint(string(s.text[s.at:s.at+4]), 16, 16)
	if err != nil {
		return 0, s.errorf("4 hexadecimal digits expected")
	}
	s.at += 4
	return rune(n), nil
}

package record

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

type jsonText struct {
	file []byte
	pos  int
}

func (j *jsonText) offset() int { return j.pos }
func (j *jsonText) left() int   { return len(j.file) - j.pos }

func (j *jsonText) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", j.pos, fmt.Errorf(format, args...))
}

func (j *jsonText) peek() byte {
	for ; j.pos < len(j.file); j.pos++ {
		switch c := j.file[j.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (j *jsonText) end() error {
	if j.peek(); j.pos < len(j.file) {
		return j.errorf("text after the end")
	}
	return nil
}

func (j *jsonText) wrong(want string) error {
	if c := j.peek(); j.pos < len(j.file) {
		return j.errorf("want %s, have %q", want, c)
	}
	return j.errorf("want %s: %w", want, errShort)
}

func (j *jsonText) next() (token, error) {
	switch c := j.peek(); {
	case c == '{':
		j.pos++
		return token{kind: table, n: -1}, nil
	case c == '[':
		j.pos++
		return token{kind: list, n: -1}, nil
	case c == '"':
		s, err := j.string()
		return token{kind: text, text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return j.number()
	}
	for _, word := range jsonWords {
		if rest := j.file[j.pos:]; len(rest) >= len(word.text) && string(rest[:len(word.text)]) == word.text {
			j.pos += len(word.text)
			return word.token, nil
		}
	}
	return token{}, j.wrong("a value")
}

var jsonWords = []struct {
	text  string
	token token
}{
	{"null", token{}},
	{"true", token{kind: boolean, bits: 1}},
	{"false", token{kind: boolean}},
}

// number reads a number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
func (j *jsonText) number() (token, error) {
	from := j.pos
	j.accept("-")
	if !j.accept("0") && !j.digits() {
		return token{}, j.wrong("a digit")
	}
	if j.accept(".") && !j.digits() {
		return token{}, j.wrong("a digit")
	}
	if j.accept("eE") {
		j.accept("+-")
		if !j.digits() {
			return token{}, j.wrong("a digit")
		}
	}
	return token{kind: decimal, text: j.file[from:j.pos:j.pos]}, nil
}

// accept consumes the next byte if it is one of bytes, and reports whether it is.
func (j *jsonText) accept(bytes string) bool {
	if j.pos < len(j.file) {
		for i := range len(bytes) {
			if j.file[j.pos] == bytes[i] {
				j.pos++
				return true
			}
		}
	}
	return false
}

// digits consumes decimal digits and reports whether there were any.
func (j *jsonText) digits() bool {
	from := j.pos
	for j.pos < len(j.file) && j.file[j.pos] >= '0' && j.file[j.pos] <= '9' {
		j.pos++
	}
	return j.pos > from
}

func (j *jsonText) more(container token, i int) (bool, error) {
	last := byte(']')
	if container.kind == table {
		last = '}'
	}
	c := j.peek()
	switch {
	case c == last:
		j.pos++
		return false, nil
	case i == 0:
		return true, nil
	case c == ',':
		j.pos++
		return true, nil
	}
	return false, j.wrong("',' or '" + string(last) + "'")
}

func (j *jsonText) key() (string, error) {
	if j.peek() != '"' {
		return "", j.wrong("a key")
	}
	s, err := j.string()
	if err != nil {
		return "", err
	}
	if j.peek() != ':' {
		return "", j.wrong("':'")
	}
	j.pos++
	return string(s), nil
}

// string reads a text. The next byte is its opening quote. The result shares the memory of the file
// unless the text has escapes.
func (j *jsonText) string() ([]byte, error) {
	j.pos++
	from := j.pos
	var made []byte
	for j.pos < len(j.file) {
		switch c := j.file[j.pos]; {
		case c == '"':
			s := j.file[from:j.pos:j.pos]
			if made != nil {
				s = append(made, s...)
			}
			j.pos++
			return s, checkText(s)
		case c < ' ':
			return nil, j.errorf("control character in a text")
		case c != '\\':
			j.pos++
		default:
			made = append(made, j.file[from:j.pos]...)
			r, err := j.escape()
			if err != nil {
				return nil, err
			}
			made = utf8.AppendRune(made, r)
			from = j.pos
		}
	}
	return nil, j.errorf("text without an end: %w", errShort)
}

// jsonEscapes maps the letter after a '\' to the character that it denotes.
var jsonEscapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads an escape sequence. The next byte is its '\'.
func (j *jsonText) escape() (rune, error) {
	j.pos++
	if j.pos == len(j.file) {
		return 0, j.errorf("text without an end: %w", errShort)
	}
	c := j.file[j.pos]
	if r, ok := jsonEscapes[c]; ok {
		j.pos++
		return r, nil
	}
	if c != 'u' {
		return 0, j.errorf("unknown escape %q", c)
	}
	r, err := j.unicode()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if j.accept(`\`) && j.pos < len(j.file) && j.file[j.pos] == 'u' {
		low, err := j.unicode()
		if both := utf16.DecodeRune(r, low); err != nil || both != utf8.RuneError {
			return both, err
		}
	}
	return 0, j.errorf("half a surrogate pair")
}

// unicode reads "u" and four hexadecimal digits.
func (j *jsonText) unicode() (rune, error) {
	if len(j.file)-j.pos < 5 {
		return 0, j.errorf("text without an end: %w", errShort)
	}
	x, err := strconv.ParseUint(string(j.file[j.pos+1:j.pos+5]), 16, 16)
	if err != nil {
		return 0, j.errorf("want four hexadecimal digits")
	}
	j.pos += 5
	return rune(x), nil
}

package serve

import (
	"io"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// scanner reads JSON incrementally in constant memory. It returns an error for text that is not
// JSON, such as NaN, and for values nested more than maxDepth deep.
type scanner struct {
	from    io.Reader
	buf     []byte
	at, end int
	depth   int
	scratch []byte
}

const maxDepth = 64

// scanners has scanners that are not in use. Their buffers are larger than most requests.
var scanners = sync.Pool{New: func() any { return &scanner{buf: make([]byte, 32<<10)} }}

// newScanner returns a scanner that reads from r. The caller must call free after use.
func newScanner(r io.Reader) *scanner {
	s := scanners.Get().(*scanner)
	s.from, s.at, s.end, s.depth = r, 0, 0, 0
	return s
}

// free lets others use the scanner.
func (s *scanner) free() {
	s.from = nil
	if cap(s.scratch) > len(s.buf) {
		s.scratch = nil
	}
	scanners.Put(s)
}

// more reads more bytes into the buffer. It first moves the byte at index `keep` and all later bytes to the
// front of the buffer, and then reads behind them. It returns io.EOF at the end.
func (s *scanner) more(keep int) error {
	copy(s.buf, s.buf[keep:s.end])
	s.at, s.end = s.at-keep, s.end-keep
	if s.end == len(s.buf) {
		return badRequest("a number in the JSON is too long")
	}
	for range 100 {
		n, err := s.from.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// peek skips white space and returns the next byte without consuming it.
func (s *scanner) peek() (byte, error) {
	c, err := s.peekOrEnd()
	return c, torn(err)
}

// peekOrEnd is like peek, but returns io.EOF at the end.
func (s *scanner) peekOrEnd() (byte, error) {
	for {
		for s.at < s.end {
			switch c := s.buf[s.at]; c {
			case ' ', '\t', '\r', '\n':
				s.at++
			default:
				return c, nil
			}
		}
		if err := s.more(s.end); err != nil {
			return 0, err
		}
	}
}

// torn turns an end-of-file error within a value into an error for a bad request.
func torn(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return badRequest("the request ends in the middle")
	}
	return err
}

func (s *scanner) byte() (byte, error) {
	if s.at == s.end {
		if err := s.more(s.end); err != nil {
			return 0, torn(err)
		}
	}
	c := s.buf[s.at]
	s.at++
	return c, nil
}

// expect skips white space and consumes byte c. It returns an error for any other byte.
func (s *scanner) expect(c byte) error {
	got, err := s.peek()
	if err != nil {
		return err
	}
	if got != c {
		return badRequest("JSON: %q where %q is expected", got, c)
	}
	s.at++
	return nil
}

// ends returns an error unless only white space is left.
func (s *scanner) ends() error {
	c, err := s.peekOrEnd()
	if err == io.EOF {
		return nil
	}
	return orElse(torn(err), badRequest("JSON: %q after the end of the request", c))
}

// object reads an object. It calls value for each key, to read the key's value. Duplicate keys are
// an error.
func (s *scanner) object(value func(key string) error) error {
	seen := map[string]bool{}
	return s.list('{', '}', func() error {
		if c, err := s.peek(); err != nil || c != '"' {
			return orElse(err, badRequest("JSON: %q where a key is expected", c))
		}
		text, err := s.str(256)
		if err != nil {
			return err
		}
		key := string(text)
		if seen[key] {
			return badRequest("JSON: %q occurs twice", key)
		}
		if len(seen) == 1024 {
			return badRequest("JSON: an object has too many keys")
		}
		seen[key] = true
		if err := s.expect(':'); err != nil {
			return err
		}
		return value(key)
	})
}

// orElse returns err if it is not nil, otherwise `other`. Go evaluates both arguments first, so `other` must
// not be a call that reads.
func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// array reads an array. It calls element for each element, to read it.
func (s *scanner) array(element func() error) error { return s.list('[', ']', element) }

func (s *scanner) list(open, close byte, element func() error) error {
	if err := s.expect(open); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return badRequest("JSON: nested more than %d deep", maxDepth)
	}
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c == close {
		s.at++
		s.depth--
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		c, err := s.peek()
		if err != nil {
			return err
		}
		s.at++
		switch c {
		case ',':
		case close:
			s.depth--
			return nil
		default:
			return badRequest("JSON: %q where %q or %q is expected", c, ',', close)
		}
	}
}

// number returns the text of a number. The text is valid until the next call.
func (s *scanner) number() (string, error) {
	if _, err := s.peek(); err != nil {
		return "", err
	}
	start := s.at
	for {
		for s.at < s.end && isNumeric(s.buf[s.at]) {
			s.at++
		}
		if s.at < s.end {
			break
		}
		length := s.at - start
		err := s.more(start)
		start = 0
		s.at = length
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", torn(err)
		}
	}
	text := s.buf[start:s.at]
	if !isNumber(text) {
		if len(text) == 0 {
			c, err := s.peek()
			return "", orElse(err, badRequest("JSON: %q where a number is expected", c))
		}
		return "", badRequest("JSON: %q is not a number", clip(text))
	}
	return unsafe.String(unsafe.SliceData(text), len(text)), nil
}

func clip(text []byte) []byte { return text[:min(len(text), 40)] }

func isNumeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func isNumber(text []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		text = text[n:]
		return n > 0
	}
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	if len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' || !digits() {
		return false
	}
	if len(text) > 0 && text[0] == '.' {
		text = text[1:]
		if !digits() {
			return false
		}
	}
	if len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(text) == 0
}

// str returns a string of at most `most` bytes. It is valid until the next call.
func (s *scanner) str(most int) ([]byte, error) {
	if err := s.expect('"'); err != nil {
		return nil, err
	}
	s.scratch = s.scratch[:0]
	for {
		if len(s.scratch) > most {
			return nil, badRequest("JSON: a string is longer than %d bytes", most)
		}
		for s.at < s.end { // what needs no attention
			c := s.buf[s.at]
			if c == '"' || c == '\\' || c < ' ' || len(s.scratch) > most {
				break
			}
			s.scratch = append(s.scratch, c)
			s.at++
		}
		c, err := s.byte()
		switch {
		case err != nil:
			return nil, err
		case c == '"':
			if !utf8.Valid(s.scratch) {
				return nil, badRequest("JSON: a string is not UTF-8")
			}
			return s.scratch, nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, badRequest("JSON: a string has a control character")
		default:
			s.scratch = append(s.scratch, c)
		}
	}
}

// escape reads an escape after its backslash.
func (s *scanner) escape() error {
	c, err := s.byte()
	if err != nil {
		return err
	}
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, err := s.hex()
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) {
			low, err := s.low()
			if err != nil {
				return err
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return badRequest("JSON: half a surrogate pair")
			}
		}
		s.scratch = utf8.AppendRune(s.scratch, r)
		return nil
	default:
		return badRequest("JSON: \\%c is not an escape", c)
	}
	s.scratch = append(s.scratch, c)
	return nil
}

func (s *scanner) low() (rune, error) {
	for _, want := range []byte(`\u`) {
		c, err := s.byte()
		if err != nil {
			return 0, err
		}
		if c != want {
			return 0, badRequest("JSON: half a surrogate pair")
		}
	}
	return s.hex()
}

func (s *scanner) hex() (rune, error) {
	var digits [4]byte
	for i := range digits {
		c, err := s.byte()
		if err != nil {
			return 0, err
		}
		digits[i] = c
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, badRequest("JSON: \\u%s is not an escape", digits[:])
	}
	return rune(n), nil
}

// word reads true, false or null and returns it.
func (s *scanner) word() (string, error) {
	c, err := s.peek()
	if err != nil {
		return "", err
	}
	for _, word := range []string{"true", "false", "null"} {
		if word[0] != c {
			continue
		}
		for i := range len(word) {
			if c, err := s.byte(); err != nil || c != word[i] {
				return "", orElse(err, badRequest("JSON: %q where %s is expected", c, word))
			}
		}
		return word, nil
	}
	return "", badRequest("JSON: %q where a value is expected", c)
}

// scalar reads a string of at most `most` bytes, a number, true, false or null. A number is an
// int64 if its text is an integer that fits, else a float64.
func (s *scanner) scalar(most int) (any, error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	switch {
	case c == '"':
		text, err := s.str(most)
		return string(text), err
	case c == '-' || c >= '0' && c <= '9':
		text, err := s.number()
		if err != nil {
			return nil, err
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, badRequest("JSON: %s is out of range", clip([]byte(text)))
		}
		return f, nil
	}
	word, err := s.word()
	if err != nil {
		return nil, err
	}
	switch word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, nil
}

// skip reads a value of any kind and drops it. Strings may have at most `most` bytes.
func (s *scanner) skip(most int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return s.object(func(string) error { return s.skip(most) })
	case '[':
		return s.array(func() error { return s.skip(most) })
	}
	_, err = s.scalar(most)
	return err
}

// integer reads an integer that is at least 0 and fits an int. `what` names the integer in errors.
func (s *scanner) integer(what string) (int, error) {
	text, err := s.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("%s is %s, want a whole number of at least 0 that fits", what, clip([]byte(text)))
	}
	return n, nil
}

package ptx

import (
	"fmt"
	"strings"
)

// token is a word, a number, a string in quotes, or a character of punctuation. At the end of the
// source its text is "".
type token struct {
	text  string
	start int // in the source
	line  int
}

// mistake is the panic value that stops reading. [Parse] returns its error.
type mistake struct{ error }

type lexer struct {
	source string
	at     int
	line   int
	next   token
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%' || c == '.'
}

// failAt panics with a [mistake] that names the line.
func failAt(line int, format string, args ...any) {
	panic(mistake{fmt.Errorf("ptx: line %d: %w", line, fmt.Errorf(format, args...))})
}

func (l *lexer) fail(format string, args ...any) { failAt(l.next.line, format, args...) }

func (l *lexer) advance() {
	l.space()
	start := l.at
	l.next = token{start: start, line: l.line}
	if start == len(l.source) {
		return
	}
	switch c := l.source[start]; {
	case isWord(c):
		for l.at < len(l.source) && isWord(l.source[l.at]) {
			l.at++
		}
	case c == '"':
		end := strings.IndexAny(l.source[start+1:], "\"\n")
		if end < 0 || l.source[start+1+end] == '\n' {
			failAt(l.line, "a string does not end")
		}
		l.at = start + end + 2
	case strings.IndexByte(",;:{}()[]<>+-@!", c) >= 0:
		l.at++
	default:
		failAt(l.line, "unexpected character %q", c)
	}
	l.next.text = l.source[start:l.at]
}

func (l *lexer) space() {
	for l.at < len(l.source) {
		rest := l.source[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			l.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			if i := strings.IndexFunc(rest[:end], func(r rune) bool { return r > '~' }); i >= 0 {
				failAt(l.line, "a comment is not in ASCII")
			}
			l.at += end
		default:
			return
		}
	}
}

// take reads and returns the next token. It panics with a [mistake] at the end of the source.
func (l *lexer) take() token {
	t := l.next
	if t.text == "" {
		l.fail("the text ends too early")
	}
	l.advance()
	return t
}

// accept reports whether the next token is `text`. If so, it reads the token.
func (l *lexer) accept(text string) bool {
	if l.next.text != text {
		return false
	}
	l.advance()
	return true
}

// expect reads the next token. It panics with a [mistake] unless the token is `text`.
func (l *lexer) expect(text string) {
	if !l.accept(text) {
		l.fail("%q where %q is expected", l.next.text, text)
	}
}

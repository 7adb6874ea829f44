package progress

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxLines = 1000 // lines of a log that are kept
	maxText  = 1024 // bytes of a line
)

// Kind is the kind of a line of the log.
type Kind int

// The kinds of lines.
const (
	Info    Kind = iota // something that is expected
	Good                // an improvement
	Warning             // something that the user should know
	Output              // a line that the program printed
)

// Line is a line of the log.
type Line struct {
	Time time.Time // zero for Output
	Kind Kind
	Text string
}

// String returns the line with its time.
func (l Line) String() string {
	if l.Time.IsZero() {
		return l.Text
	}
	return l.Time.Format(time.TimeOnly) + " " + l.Text
}

// Log keeps the last lines.
type Log struct {
	lines   []Line
	dropped [Output + 1]int // lines of each kind that are not kept
}

func newLog() *Log { return &Log{} }

// add appends a line. It may drop the oldest lines.
func (l *Log) add(line Line) {
	line.Text = Clean(line.Text, maxText)
	if len(l.lines) == 2*maxLines {
		for _, old := range l.lines[:maxLines] {
			l.dropped[old.Kind]++
		}
		l.lines = append(l.lines[:0], l.lines[maxLines:]...)
	}
	l.lines = append(l.lines, line)
}

// tail returns the last lines, at most n.
func (l *Log) tail(n int) []Line {
	return slices.Clone(l.lines[max(0, len(l.lines)-min(n, maxLines)):])
}

// Clean returns text as one line whose width in a terminal is predictable. Line ends, tabs and
// other white space become spaces. Escape sequences, control characters, formatting characters,
// variation selectors and skin tones are left out. If the text is longer than `bytes` bytes, it is
// cut, and "…" is appended.
func Clean(text string, bytes int) string {
	cut := len(text) > bytes
	if cut {
		text = text[:bytes]
	}
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
			return ' '
		case r >= '🇦' && r <= '🇿': // two of these letters are a flag, with a width of its own
			return 'A' + r - '🇦'
		case r >= '🏻' && r <= '🏿': // colours of skin join the character before
			return -1
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector):
			return -1
		}
		return r
	}, escapes(text))
	if cut {
		text += "…"
	}
	return text
}

func cleanName(name string) string { return Clean(name, maxName) }

// escapes removes the terminal's escape sequences from text (ECMA-48, sections 5.4 and 8.3.89).
// There are three kinds. ESC "[" ends with a byte from @ to ~. ESC "]" ends with BEL or ST.
// Otherwise the sequence is ESC and one character.
func escapes(text string) string {
	if !strings.ContainsRune(text, '\x1b') {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		i := strings.IndexByte(text, '\x1b')
		if i < 0 {
			break
		}
		out.WriteString(text[:i])
		text = text[i+1:]
		switch {
		case strings.HasPrefix(text, "["):
			n := strings.IndexFunc(text[1:], func(r rune) bool { return r >= '@' && r <= '~' })
			if n < 0 {
				return out.String()
			}
			text = text[n+2:]
		case strings.HasPrefix(text, "]"):
			n := strings.IndexAny(text, "\a\x1b")
			if n < 0 {
				return out.String()
			}
			text = strings.TrimPrefix(text[n:], "\a")
			text = strings.TrimPrefix(text, "\x1b\\")
		case text != "":
			_, n := utf8.DecodeRuneInString(text)
			text = text[n:]
		}
	}
	out.WriteString(text)
	return out.String()
}

// Printed returns the lines that the program printed, as far as they are kept. dropped is the
// number of lines that are not kept.
func (r *Run) Printed() (lines []string, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.log.lines {
		if l.Kind == Output {
			lines = append(lines, l.Text)
		}
	}
	return lines, r.log.dropped[Output]
}

package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxProblems = 100
	// maxKept is the maximum number of problems that are kept in memory. They are then sorted by
	// node, and the first maxProblems are reported.
	maxKept = 1 << 12
	// maxLine is the maximum length of a line in bytes. The line is cut to this length before
	// characters that cannot be printed are escaped, and may then become longer.
	maxLine = 1 << 10
)

// These are the positions of problems that do not concern a node of the graph.
const (
	beforeNodes = -1
	afterNodes  = int(^uint(0) >> 1)
)

type problems struct {
	file string
	// at is the index of the graph's node being imported. Later problems are attributed to it, including
	// problems of graphs and functions inside it.
	at    int
	kept  []problem
	count int
}

type problem struct {
	at   int
	text string
}

func (p *problems) add(format string, args ...any) {
	p.count++
	if len(p.kept) < maxKept {
		p.kept = append(p.kept, problem{p.at, fmt.Sprintf(format, args...)})
	}
}

// err returns nil if there is no problem. Otherwise it returns an error with one line for each
// problem, in the order of the nodes.
func (p *problems) err() error {
	slices.SortStableFunc(p.kept, func(a, b problem) int { return cmp.Compare(a.at, b.at) })
	var errs []error
	for _, q := range p.kept[:min(len(p.kept), maxProblems)] {
		errs = append(errs, lineError(p.file, errors.New(q.text)))
	}
	if n := p.count - len(errs); n > 0 {
		errs = append(errs, lineError(p.file, fmt.Errorf("%d more problems", n)))
	}
	return errors.Join(errs...)
}

// warn records a warning, whose message begins with position. For each subject, only the first
// warning is recorded. At most maxProblems warnings are recorded.
func (im *importer) warn(subject, position, format string, args ...any) {
	if im.warned[subject] || len(im.Warnings) == maxProblems {
		return
	}
	im.warned[subject] = true
	im.Warnings = append(im.Warnings, line(im.File+": warning: "+position+fmt.Sprintf(format, args...)))
}

func lineError(file string, err error) error { return errors.New(line(file + ": " + err.Error())) }

func line(text string) string {
	text = shorten(text, maxLine)
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\n':
			b.WriteString("; ")
		case c == ' ' || unicode.IsPrint(c) && c != unicode.ReplacementChar:
			b.WriteRune(c)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(c), "'"))
		}
	}
	return b.String()
}

// shorten returns text. If text has more than `limit` bytes, "…" replaces the middle.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*2/3, limit/3-len("…")
	return strings.ToValidUTF8(text[:head], "") + "…" + strings.ToValidUTF8(text[len(text)-tail:], "")
}

const maxQuoted = 80

func quote(name string) string { return strconv.Quote(shorten(name, maxQuoted)) }

// plain returns a name as it is if it reads as one word. Otherwise it returns the name in quotes.
func plain(name string) string {
	for _, c := range name {
		if c != '_' && c != '.' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return quote(name)
		}
	}
	if name == "" || len(name) > maxQuoted {
		return quote(name)
	}
	return name
}

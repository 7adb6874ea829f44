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

// maxProblems bounds how many problems of a model are reported, maxKept how many
// are kept to choose the first from, and maxLine the bytes of one line.
const (
	maxProblems = 100
	maxKept     = 1 << 12
	maxLine     = 1 << 10
)

// Where problems stand that are about no node of the graph.
const (
	beforeNodes = -1
	afterNodes  = int(^uint(0) >> 1)
)

// problems collects what is wrong with a model.
type problems struct {
	file string
	// at is the node of the graph that is imported, which later problems are
	// about, those of graphs and functions inside it included.
	at    int
	kept  []problem
	count int
}

type problem struct {
	at   int
	text string
}

// add notes a problem.
func (p *problems) add(format string, args ...any) {
	p.count++
	if len(p.kept) < maxKept {
		p.kept = append(p.kept, problem{p.at, fmt.Sprintf(format, args...)})
	}
}

// err returns the problems, a line each, in the order of the nodes.
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

// warn notes what is passed over, the first time that it is said of a subject; where is the
// place.
func (im *importer) warn(subject, where, format string, args ...any) {
	if im.warned[subject] || len(im.Warnings) == maxProblems {
		return
	}
	im.warned[subject] = true
	im.Warnings = append(im.Warnings, line(im.File+": warning: "+where+fmt.Sprintf(format, args...)))
}

// lineError returns the error of a file as one line.
func lineError(file string, err error) error { return errors.New(line(file + ": " + err.Error())) }

// line returns text as one printable line of bounded length.
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

// shorten returns text with its middle left out where it is longer than most
// bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most*2/3, most/3-len("…")
	return strings.ToValidUTF8(text[:head], "") + "…" + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// maxQuoted bounds the bytes of a name in a message.
const maxQuoted = 80

// quote returns a name of the model for a message.
func quote(name string) string { return strconv.Quote(shorten(name, maxQuoted)) }

// plain returns a name as it is when it reads as one word, else quoted.
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

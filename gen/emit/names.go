package emit

import (
	"go/token"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// names allocates Go identifiers that are unique in a scope. They also differ from the identifiers
// of the enclosing scope, and of the scopes inside this one.
type names struct {
	taken map[string]bool
	outer *names
	inner map[string]bool // names taken in inner scopes
}

func newNames(taken ...string) *names {
	n := &names{taken: map[string]bool{}, inner: map[string]bool{}}
	for _, t := range taken {
		n.taken[t] = true
	}
	return n
}

func (n *names) within(taken ...string) *names {
	in := newNames(taken...)
	in.outer = n
	for _, t := range taken {
		n.inner[t] = true
	}
	return in
}

func (n *names) unique(name string) string {
	out := name
	for i := 2; !n.isFree(out); i++ {
		sep := ""
		if last := name[len(name)-1]; '0' <= last && last <= '9' {
			sep = "_"
		}
		out = name + sep + strconv.Itoa(i)
	}
	n.take(out)
	return out
}

func (n *names) take(name string) {
	n.taken[name] = true
	if n.outer != nil {
		n.outer.inner[name] = true
	}
}

func (n *names) isFree(name string) bool {
	return !n.taken[name] && !n.inner[name] && !token.IsKeyword(name) && !predeclared[name] && (n.outer == nil || !n.outer.taken[name])
}

// predeclared holds the names that no generated declaration may take: Go's predeclared identifiers,
// init and main, and the names of imported packages.
var predeclared = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`any append bool byte cap clear close comparable complex complex64 complex128 copy delete
		error false float32 float64 imag init int int8 int16 int32 int64 iota len main make max min new nil panic print println
		real recover rune string true uint uint8 uint16 uint32 uint64 uintptr _ cpu gpu rtimage rt errors math context atomic testing embed weightsfile`) {
		m[s] = true
	}
	return m
}()

// comment returns `text` as one line of printable ASCII for a // comment. The line cannot be taken
// for a build constraint. A long text is cut off after about maxComment characters.
func comment(text string) string {
	out := strings.TrimSpace(clip(text, maxComment))
	if rest, ok := strings.CutPrefix(out, "+build"); ok {
		return `\x2bbuild` + rest
	}
	return out
}

// clip returns `text` as printable ASCII, of about n characters at most.
func clip(text string, n int) string {
	var b strings.Builder
	for _, r := range text {
		if r < ' ' || r > '~' {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
		if b.Len() > n {
			b.WriteString(" ...")
			break
		}
	}
	return b.String()
}

// maxComment is the approximate maximum length of a comment line derived from a model's text. A longer text is cut
// off.
const maxComment = 400

func lines(text string) string {
	return "// " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n// "), "// \n", "//\n")
}

func note(f *jen.File, text string) { f.Comment(lines(text)) }

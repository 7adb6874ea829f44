package emit

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// names gives out Go identifiers that are unique in a scope, that are not those of
// the scope around it, and that no scope within it has given out.
type names struct {
	taken map[string]bool
	outer *names
	inner map[string]bool // taken in the scopes within
}

// newNames returns a scope in which some identifiers are taken.
func newNames(taken ...string) *names {
	n := &names{taken: map[string]bool{}, inner: map[string]bool{}}
	for _, t := range taken {
		n.taken[t] = true
	}
	return n
}

// within returns a scope in n in which some identifiers are taken.
func (n *names) within(taken ...string) *names {
	in := newNames(taken...)
	in.outer = n
	for _, t := range taken {
		n.inner[t] = true
	}
	return in
}

// unique returns name, or name with a number that makes it unique.
func (n *names) unique(name string) string {
	out := name
	for i := 2; !n.isFree(out); i++ {
		sep := ""
		if last := name[len(name)-1]; '0' <= last && last <= '9' {
			sep = "_"
		}
		out = name + sep + strconv.Itoa(i)
	}
	n.taken[out] = true
	if n.outer != nil {
		n.outer.inner[out] = true
	}
	return out
}

func (n *names) isFree(name string) bool {
	return !n.taken[name] && !n.inner[name] && !token.IsKeyword(name) && !predeclared[name] && (n.outer == nil || !n.outer.taken[name])
}

// predeclared are the identifiers that generated code uses with their own
// meaning, and the packages it imports.
var predeclared = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`any append bool byte cap clear close comparable complex complex64 complex128 copy delete
		error false float32 float64 imag init int int8 int16 int32 int64 iota len main make max min new nil panic print println
		real recover rune string true uint uint8 uint16 uint32 uint64 uintptr _ cpu cpuimage rt math context atomic testing embed`) {
		m[s] = true
	}
	return m
}()

// maxName bounds the length of an identifier made from a model's text.
const maxName = 40

// words splits any text into runs of ASCII letters and digits.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
}

// camel joins the words of text, each with a capital; text without a word, or
// that begins with a digit, gets prefix in front.
func camel(text, prefix string) string {
	var b strings.Builder
	for _, w := range words(text) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		if b.Len() > maxName {
			break
		}
	}
	name := b.String()
	if name == "" || unicode.IsDigit(rune(name[0])) {
		name = prefix + name
	}
	return name[:min(len(name), maxName)]
}

// exported returns an exported identifier for text.
func exported(text string) string { return camel(text, "X") }

// unexported returns an unexported identifier for text.
func unexported(text string) string {
	name := camel(text, "x")
	upper := 0
	for upper < len(name) && unicode.IsUpper(rune(name[upper])) {
		upper++
	}
	// A leading run of capitals is an initialism: FC1 is fc1, HTTPPort httpPort.
	if upper > 1 && upper < len(name) && unicode.IsLower(rune(name[upper])) {
		upper--
	}
	return strings.ToLower(name[:upper]) + name[upper:]
}

// isIdentifier reports whether text is an ASCII Go identifier.
func isIdentifier(text string) bool {
	return token.IsIdentifier(text) && len(text) <= maxName && len(words(strings.ReplaceAll(text, "_", "a"))) == 1
}

// comment returns text as one line of printable ASCII for a // comment, which does not
// begin as a build constraint does.
func comment(text string) string {
	out := strings.TrimSpace(clip(text, maxComment))
	if rest, ok := strings.CutPrefix(out, "+build"); ok {
		return `\x2bbuild` + rest
	}
	return out
}

// clip returns text as printable ASCII, of about n characters at most.
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

// maxComment bounds the length of a comment line made from a model's text.
const maxComment = 400

// lines returns text as line comments.
func lines(text string) string {
	return "// " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n// "), "// \n", "//\n")
}

// note puts a comment before what is printed next.
func note(f *jen.File, text string) { f.Comment(lines(text)) }

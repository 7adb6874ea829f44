package ir

import (
	"go/token"
	"strings"
	"unicode"
)

// MaxIdentifier is the maximum length, in bytes, of an identifier that is derived from a text of a model. A longer
// identifier is cut off.
const MaxIdentifier = 40

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
}

// camel joins the words of text and makes the first letter of each a capital. It puts prefix in front if text has
// no words or the result would begin with a digit.
func camel(text, prefix string) string {
	var b strings.Builder
	for _, w := range words(text) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		if b.Len() > MaxIdentifier {
			break
		}
	}
	name := b.String()
	if name == "" || unicode.IsDigit(rune(name[0])) {
		name = prefix + name
	}
	return name[:min(len(name), MaxIdentifier)]
}

// Exported derives an exported Go identifier of at most [MaxIdentifier] bytes from any text.
// Different texts may give the same identifier.
func Exported(text string) string { return camel(text, "X") }

// Unexported derives an unexported Go identifier of at most [MaxIdentifier] bytes from any text. Different texts
// may give the same identifier. The identifier may be a keyword of Go.
func Unexported(text string) string {
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

// IsIdentifier reports whether text is a Go identifier of ASCII letters, digits and
// underscores.
func IsIdentifier(text string) bool {
	return token.IsIdentifier(text) && len(words(strings.ReplaceAll(text, "_", "a"))) == 1
}

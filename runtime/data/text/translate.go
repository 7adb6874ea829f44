package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The limits of supported regular expressions.
const (
	maxGroups = 64   // nested
	maxFolded = 4096 // characters of a range that ignores case
)

// These are the characters that \w matches in Oniguruma. wordInClass is for \w inside a class in
// brackets. wordClass is for \w outside, where it also matches the superscripts and fractions of
// Latin-1.
const (
	wordInClass = `\p{L}\p{Nl}\p{Other_Alphabetic}\p{M}\p{Nd}\p{Pc}`
	wordClass   = wordInClass + `²³¹¼½¾`
)

// translate rewrites a regular expression of Oniguruma for regexp2, which has the syntax of .NET.
// Groups do not capture. Where case is ignored, each character becomes the class of all characters
// with the same simple case folding. It returns an error for backreferences and for constructs that
// .NET lacks, such as nested classes.
func translate(expr string) (string, error) {
	t := &translator{in: []rune(expr)}
	for t.at < len(t.in) {
		if err := t.item(); err != nil {
			return "", fmt.Errorf("at %d: %w", t.at, err)
		}
	}
	if len(t.groups) > 0 {
		return "", fmt.Errorf("at %d: a group has no end", t.at)
	}
	return t.out.String(), nil
}

type translator struct {
	in     []rune
	at     int
	out    output
	atom   int // where the last item begins in out that a quantifier may follow, or -1
	fold   bool
	groups []group
}

// group is an open group.
type group struct {
	// its position in out
	start int
	// whether case is ignored before the group
	fold bool
}

// output is a strings.Builder whose end can be removed.
type output struct{ strings.Builder }

// from removes and returns the text from position `at` on.
func (o *output) from(at int) string {
	s := o.String()
	o.Reset()
	o.WriteString(s[:at])
	return s[at:]
}

// peek returns the next character, or 0 at the end.
func (t *translator) peek() rune {
	if t.at < len(t.in) {
		return t.in[t.at]
	}
	return 0
}

func (t *translator) accept(text string) bool {
	runes := []rune(text)
	if t.at+len(runes) > len(t.in) || !slices.Equal(t.in[t.at:t.at+len(runes)], runes) {
		return false
	}
	t.at += len(runes)
	return true
}

// put writes an item to which a quantifier may apply.
func (t *translator) put(text string) {
	t.atom = t.out.Len()
	t.out.WriteString(text)
}

// anchor writes an item of zero width.
func (t *translator) anchor(text string) {
	t.atom = -1
	t.out.WriteString(text)
}

func (t *translator) item() error {
	switch c := t.peek(); c {
	case '(':
		return t.open()
	case ')':
		if len(t.groups) == 0 {
			return fmt.Errorf("a group ends that did not begin")
		}
		g := t.groups[len(t.groups)-1]
		t.groups, t.fold = t.groups[:len(t.groups)-1], g.fold
		t.out.WriteByte(')')
		t.at, t.atom = t.at+1, g.start
	case '|':
		t.at++
		t.anchor("|")
	case '^', '$':
		t.at++
		t.anchor("(?m:" + string(c) + ")")
	case '.':
		t.at++
		t.put(".")
	case '*', '+', '?':
		return t.quantifier(string(c), true)
	case '{':
		if q, size, ok := repetition(t.in[t.at:]); ok {
			t.at += size - 1
			return t.quantifier(q, false)
		}
		t.at++
		t.put(`\{`)
	case '[':
		class, err := t.class()
		if err != nil {
			return err
		}
		t.put(class)
	case '\\':
		return t.escape()
	default:
		t.at++
		t.literal(c)
	}
	return nil
}

// literal writes a character or, if case is ignored, the class of all characters with the same case
// folding.
func (t *translator) literal(c rune) {
	if folded := folding(c); t.fold && len(folded) > 1 {
		var b strings.Builder
		for _, f := range folded {
			b.WriteString(quoted(f))
		}
		t.put("[" + b.String() + "]")
		return
	}
	t.put(quoted(c))
}

func folding(c rune) []rune {
	all := []rune{c}
	for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
		all = append(all, f)
	}
	return all
}

// quoted returns c in a form that stands for c inside and outside classes.
func quoted(c rune) string {
	if c < 0x80 && !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
		return fmt.Sprintf(`\x%02x`, c)
	}
	return string(c)
}

func (t *translator) open() error {
	if len(t.groups) == maxGroups {
		return fmt.Errorf("more than %d nested groups", maxGroups)
	}
	start, fold := t.out.Len(), t.fold
	t.at++
	if !t.accept("?") {
		t.groups = append(t.groups, group{start, fold})
		t.anchor("(?:")
		return nil
	}
	for _, kind := range []string{":", "=", "!", "<=", "<!", ">"} {
		if t.accept(kind) {
			t.groups = append(t.groups, group{start, fold})
			t.anchor("(?" + kind)
			return nil
		}
	}
	on, dot := true, ""
	for ; ; t.at++ {
		switch t.peek() {
		case '-':
			on = false
		case 'i':
			t.fold = on
		case 'm':
			dot = "s"
			if !on {
				dot = "-s"
			}
		case ':':
			t.at++
			t.groups = append(t.groups, group{start, fold})
			t.anchor("(?" + dot + ":")
			return nil
		case ')':
			t.at++ // to the end of the enclosing group
			if dot != "" {
				t.anchor("(?" + dot + ")")
			}
			return nil
		default:
			return fmt.Errorf("the group is not supported")
		}
	}
}

// quantifier writes quantifier q for the last item. If possessive is true, a "+" after the
// quantifier makes it possessive, and a "?" lazy. Otherwise a "?" after it is an error, and a "+"
// applies to the item with its quantifier: a{2}+ means (a{2})+.
func (t *translator) quantifier(q string, possessive bool) error {
	if t.atom < 0 || t.atom == t.out.Len() {
		return fmt.Errorf("nothing to repeat")
	}
	t.at++
	start := t.atom
	t.out.WriteString(q)
	switch {
	case possessive && t.accept("+"):
		atom := t.out.from(start)
		t.out.WriteString("(?>" + atom + ")")
	case possessive && t.accept("?"):
		t.out.WriteByte('?')
	case t.peek() == '?':
		return fmt.Errorf("a lazy interval is not supported")
	}
	if next := t.peek(); next == '*' || next == '+' || next == '?' { // a quantifier of the repetition
		atom := t.out.from(start)
		t.out.WriteString("(?:" + atom + ")")
	}
	t.atom = start
	return nil
}

// repetition parses an interval such as {2,3} at the beginning of `in`. It returns the interval in
// .NET's syntax and its length in `in`. ok is false if `in` does not begin with an interval.
func repetition(in []rune) (q string, size int, ok bool) {
	end := slices.Index(in, '}')
	if end < 0 {
		return "", 0, false
	}
	low, high, two := strings.Cut(string(in[1:end]), ",")
	if low == "" && high != "" {
		low = "0"
	}
	from, err := strconv.ParseUint(low, 10, 16)
	if err != nil {
		return "", 0, false
	}
	switch to, err := strconv.ParseUint(high, 10, 16); {
	case !two:
		return fmt.Sprintf("{%d}", from), end + 1, true
	case high == "":
		return fmt.Sprintf("{%d,}", from), end + 1, true
	case err == nil && from <= to:
		return fmt.Sprintf("{%d,%d}", from, to), end + 1, true
	}
	return "", 0, false
}

func (t *translator) escape() error {
	if t.at+1 == len(t.in) {
		return fmt.Errorf("nothing is escaped")
	}
	switch c := t.in[t.at+1]; c {
	case 'A', 'z', 'Z':
		t.at += 2
		t.anchor(`\` + string(c))
		return nil
	case 'b', 'B':
		t.at += 2
		word, end := "["+wordClass+"]", "(?:(?<=%[1]s)(?!%[1]s)|(?<!%[1]s)(?=%[1]s))"
		if c == 'B' {
			end = "(?:(?<=%[1]s)(?=%[1]s)|(?<!%[1]s)(?!%[1]s))"
		}
		t.anchor(fmt.Sprintf(end, word))
		return nil
	case 'w', 'W':
		t.at += 2
		t.put(map[rune]string{'w': "[", 'W': "[^"}[c] + wordClass + "]")
		return nil
	case 'h', 'H':
		t.at += 2
		t.put(map[rune]string{'h': "[", 'H': "[^"}[c] + "0-9a-fA-F]")
		return nil
	}
	class, c, err := t.escaped()
	if err != nil {
		return err
	}
	if class != "" {
		t.put(class)
	} else {
		t.literal(c)
	}
	return nil
}

// escaped parses an escape that means the same inside and outside classes. If the escape stands for
// several characters, `class` is the content of a class in brackets. Otherwise class is "" and char
// is the character.
func (t *translator) escaped() (class string, char rune, err error) {
	t.at++
	c := t.peek()
	t.at++
	switch c {
	case 's', 'S', 'd', 'D':
		return `\` + string(c), 0, nil
	case 'p', 'P':
		class, err = t.property(c == 'P')
		return class, 0, err
	case 'x', 'u':
		char, err = t.code(c)
		return "", char, err
	}
	if i := strings.IndexRune("tnrfvae", c); i >= 0 {
		return "", rune("\t\n\r\f\v\a\x1b"[i]), nil
	}
	if c == 0 || unicode.IsLetter(c) || unicode.IsDigit(c) {
		return "", 0, fmt.Errorf(`\%c is not supported`, c)
	}
	return "", c, nil
}

// property parses the name of a category or script, in braces after \p or \P. negated is true
// after \P. It returns the class in Go's syntax.
func (t *translator) property(negated bool) (string, error) {
	end := slices.Index(t.in[t.at:], '}')
	if t.peek() != '{' || end < 0 {
		return "", fmt.Errorf(`\p without a name in braces`)
	}
	name := string(t.in[t.at+1 : t.at+end])
	t.at += end + 1
	if inner, ok := strings.CutPrefix(name, "^"); ok {
		name, negated = inner, !negated
	}
	known := unicode.Categories[name] != nil || unicode.Scripts[name] != nil
	if !known {
		return "", fmt.Errorf(`\p{%s} is not supported`, name)
	}
	if negated {
		return `\P{` + name + `}`, nil
	}
	return `\p{` + name + `}`, nil
}

// code parses the digits of \xHH, \x{H…} or \uHHHH. kind is 'x' or 'u'.
func (t *translator) code(kind rune) (rune, error) {
	digits := 2
	if kind == 'u' {
		digits = 4
	}
	from := t.at
	if kind == 'x' && t.accept("{") {
		end := slices.Index(t.in[t.at:], '}')
		if end < 0 {
			return 0, fmt.Errorf("a code without an end")
		}
		from, digits = t.at, end
		t.at++ // the brace
	}
	if from+digits > len(t.in) {
		return 0, fmt.Errorf("a code without an end")
	}
	t.at += digits
	v, err := strconv.ParseUint(string(t.in[from:from+digits]), 16, 21)
	if err != nil || v > unicode.MaxRune {
		return 0, fmt.Errorf("%q is not the code of a character", string(t.in[from:from+digits]))
	}
	return rune(v), nil
}

func (t *translator) class() (string, error) {
	t.at++
	var b strings.Builder
	b.WriteByte('[')
	if t.accept("^") {
		b.WriteByte('^')
	}
	for first := true; ; first = false {
		switch c := t.peek(); {
		case t.at == len(t.in):
			return "", fmt.Errorf("a class has no end")
		case c == ']' && !first:
			t.at++
			b.WriteByte(']')
			return b.String(), nil
		case c == '[':
			return "", fmt.Errorf("a class in a class is not supported")
		case c == '&' && t.at+1 < len(t.in) && t.in[t.at+1] == '&':
			return "", fmt.Errorf("the intersection of classes is not supported")
		}
		class, low, err := t.member()
		if err != nil {
			return "", err
		}
		if class != "" {
			b.WriteString(class)
			continue
		}
		high := low
		if t.peek() == '-' && t.at+1 < len(t.in) && t.in[t.at+1] != ']' {
			t.at++
			class, high, err = t.member()
			switch {
			case err != nil:
				return "", err
			case class != "" || high < low:
				return "", fmt.Errorf("the range has no end")
			}
		}
		if t.fold && high-low > maxFolded {
			return "", fmt.Errorf("a range of more than %d characters that ignores case is not supported", maxFolded)
		}
		t.span(&b, low, high)
	}
}

// member parses a member of a class. If the member is one character, class is "". Otherwise class
// is the member in Go's syntax.
func (t *translator) member() (class string, char rune, err error) {
	c := t.peek()
	switch {
	case t.at == len(t.in):
		return "", 0, fmt.Errorf("a class has no end")
	case c != '\\':
		t.at++
		return "", c, nil
	case t.at+1 < len(t.in) && t.in[t.at+1] == 'w':
		t.at += 2
		return wordInClass, 0, nil
	case t.at+1 < len(t.in) && t.in[t.at+1] == 'h':
		t.at += 2
		return "0-9a-fA-F", 0, nil
	}
	return t.escaped()
}

// span writes the range of characters from low to high. If case is ignored, it also writes each
// character outside the range that has the same case folding as a character inside it.
func (t *translator) span(b *strings.Builder, low, high rune) {
	b.WriteString(quoted(low))
	if low != high {
		b.WriteString("-" + quoted(high))
	}
	if !t.fold {
		return
	}
	for c := low; c <= high; c++ {
		for _, f := range folding(c) {
			if f < low || f > high {
				b.WriteString(quoted(f))
			}
		}
	}
}

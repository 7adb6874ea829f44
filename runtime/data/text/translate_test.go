package text

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTranslateErrors asserts that expressions that .NET cannot express are refused. Vectors of the
// reference test those that it can.
func TestTranslateErrors(t *testing.T) {
	for expr, want := range map[string]string{
		`(a`:                     "at 2: a group has no end",
		`a)`:                     "a group ends that did not begin",
		`*a`:                     "nothing to repeat",
		`a|+`:                    "nothing to repeat",
		`(?<name>a)`:             "the group is not supported",
		`(?#note)`:               "the group is not supported",
		`(a)\1`:                  `\1 is not supported`,
		`\X`:                     `\X is not supported`,
		`[a[b]]`:                 "a class in a class",
		`[a&&b]`:                 "the intersection",
		`[^\W]`:                  `\W is not supported`,
		`[a`:                     "a class has no end",
		`[b-a]`:                  "the range has no end",
		`\p{Foo}`:                `\p{Foo} is not supported`,
		`\pL`:                    `\p without a name`,
		`\x{110000}`:             "is not the code of a character",
		`\x4`:                    "a code without an end",
		`\`:                      "nothing is escaped",
		`a{2}?`:                  "a lazy interval",
		`(?i:[\x{0}-\x{ffff}])`:  "more than 4096 characters",
		strings.Repeat("(", 100): "more than 64 nested groups",
	} {
		if got, err := translate(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q %v, want %q", expr, got, err, want)
		}
	}
	if _, err := regular(strings.Repeat("a", maxExpression+1)); err == nil {
		t.Error("no error for a long expression")
	}
}

// TestFold asserts that case is ignored where an expression says so, by simple case folding.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		want       []string
	}{
		{`(?i:k)s`, "ks Ks \u212as kS", []string{"ks", "Ks", "\u212as"}},
		{`(?i)'s`, "'s 'S '\u017f", []string{"'s", "'S", "'\u017f"}},
		{`(?:(?i)a)a`, "aa Aa aA", []string{"aa", "Aa"}},
		{`(?i:[r-t])`, "rST\u017fu", []string{"r", "S", "T", "\u017f"}},
		{`(?i:a(?-i:b))`, "ab Ab aB", []string{"ab", "Ab"}},
	} {
		re, err := regular(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		matches, err := re(c.text)
		var got []string
		for _, m := range matches {
			if m.found {
				got = append(got, c.text[m.start:m.end])
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: got %q %v, want %q", c.expr, c.text, got, err, c.want)
		}
	}
}

// TestSlow asserts that an expression that takes exponential time is stopped.
func TestSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	re, err := regular(`(?:a|aa)+\z`)
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if _, err := re(strings.Repeat("a", 100) + "b"); err == nil || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("got %v after %v", err, time.Since(started))
	}
}

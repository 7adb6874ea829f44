package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
)

// TestHelp checks that every flag of every command says what it is if it is not given.
func TestHelp(t *testing.T) {
	for _, c := range commands {
		flags, _ := newFlags(c)
		var out bytes.Buffer
		c.help(&out, flags)
		flags.VisitAll(func(f *flag.Flag) {
			if n := strings.Count(out.String(), "\n  -"+f.Name+" ") + strings.Count(out.String(), "\n  -"+f.Name+"\n"); n != 1 {
				t.Errorf("%s: -%s is in the help %d times", c.name, f.Name, n)
			}
			v := f.Value.(*checked)
			_, text := flag.UnquoteUsage(f)
			text += ending(f, text)
			says := strings.Contains(text, "(default") || strings.Contains(text, "(required") || strings.Contains(text, "(repeatable)")
			if says == v.IsBoolFlag() {
				t.Errorf("%s: -%s: %s", c.name, f.Name, text)
			}
			if first, _, _ := strings.Cut(text, " "); first != strings.ToLower(first) {
				t.Errorf("%s: -%s: %s", c.name, f.Name, text)
			}
		})
	}
}

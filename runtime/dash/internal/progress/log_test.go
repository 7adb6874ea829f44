package progress

import (
	"fmt"
	"strings"
	"testing"
)

func TestPrintedLines(t *testing.T) {
	r := New()
	for i := range 2*maxLines + 1 {
		r.Print(fmt.Sprint(i))
		r.log.add(Line{Text: "of an event"})
	}
	lines, dropped := r.Printed()
	if n := len(lines) + dropped; n != 2*maxLines+1 || len(lines) < maxLines/2 || lines[len(lines)-1] != fmt.Sprint(2*maxLines) {
		t.Errorf("%d lines to %q, %d dropped", len(lines), lines[len(lines)-1], dropped)
	}
	if lines[0] != fmt.Sprint(dropped) {
		t.Errorf("the first line after %d is %q", dropped, lines[0])
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                      "plain",
		"a\tb\nc\r\nd":               "a b c  d",
		"\x1b[31mred\x1b[0m":         "red",
		"\x1b]0;title\a!":            "!",
		"\x1b]8;;http://x\x1b\\link": "link",
		"\x1b[2J\x1b[H\x1bcgone":     "gone",
		"cut \x1b[31":                "cut ",
		"cut \x1b]0;":                "cut ",
		"\x1b":                       "",
		"a\x00\x07\x7f\u009b31mb":    "a31mb",
		"right\u202eto left\u200b":   "rightto left",
		"bad \xff utf":               "bad ? utf",
		"日本語 é":                      "日本語 é",
		"🇩🇪 👍🏽 ☺\ufe0f 👩\u200d💻":        "DE 👍 ☺ 👩💻",
		strings.Repeat("é", 20):         strings.Repeat("é", 20),
		strings.Repeat("é", 31) + "abc": strings.Repeat("é", 31) + "ab…",
		strings.Repeat("é", 40):         strings.Repeat("é", 32) + "…",
		strings.Repeat("é", 31) + "aéé": strings.Repeat("é", 31) + "a?…",
	} {
		if got := Clean(text, 64); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

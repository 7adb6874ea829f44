//go:build unix || windows

package dash

import (
	"strings"
	"testing"
)

// TestStyles asserts that curves differ in colour, and that a view in one colour does without sequences.
func TestStyles(t *testing.T) {
	m := typed(runOf(recorded(300)...), 80, 24, false)
	if content := m.View().Content; !strings.Contains(content, "\x1b[36m") || !strings.Contains(content, "\x1b[33m") {
		t.Errorf("no colours of training and validation in %q", content)
	}
	g := newGrid(3, 1, false)
	g.put(0, 0, 3, plain, "abc")
	if got := g.styled(); got != "abc" {
		t.Errorf("%q", got)
	}
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		text, want string
		end        int
		ascii      bool
	}{
		{"plain", "plain", 8, false},
		{"too long for it", "too lon…", 8, false},
		{"too long for it", "too lon~", 8, true},
		{"日本語日本語", "日本語…", 8, false},
		{"日本", "??", 8, true},
		{"日本", "日…", 3, false},
		{"e\u0301a", "e\u0301a", 8, false},
		{"e\u0301a", "ea", 8, true},
		{"a\x1bb", "ab", 8, false},
		{"\u0301a", "a", 8, false},
		{"x", "x", 99, false},
		{"wide", "w", 1, false},
		{"wide", "", 0, false},
	} {
		g := newGrid(8, 1, c.ascii)
		g.put(0, 0, c.end, plain, c.text)
		if got := strings.TrimSuffix(g.text(), "\n"); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.end, got, c.want)
		}
	}
	g := newGrid(4, 2, false)
	for _, at := range [][2]int{{-3, 0}, {3, 5}, {2, -1}, {9, 1}} {
		g.put(at[0], at[1], 20, plain, "outside日")
	}
}

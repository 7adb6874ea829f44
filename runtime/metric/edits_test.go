package metric

import "testing"

// TestEdits compares with the definition: the least of the three last edits.
func TestEdits(t *testing.T) {
	var define func(a, b string) int
	define = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		n := define(a[1:], b[1:])
		if a[0] != b[0] {
			n++
		}
		return min(n, 1+define(a[1:], b), 1+define(a, b[1:]))
	}
	words := []string{"", "a", "ab", "ba", "abcab", "bcbac", "ccc", "cabab"}
	for _, a := range words {
		for _, b := range words {
			if got, want := edits([]byte(a), []byte(b)), define(a, b); got != want {
				t.Errorf("%q and %q: %d edits, want %d", a, b, got, want)
			}
		}
	}
}

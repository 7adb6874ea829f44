package text

import (
	"strings"
	"testing"
)

// TestLossy asserts how many U+FFFD stand for bytes that are not UTF-8: one for the longest beginning
// of a character. The cases are from the tables of the Unicode Standard, section 3.9.
func TestLossy(t *testing.T) {
	for text, want := range map[string]string{
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A": strings.Repeat("\ufffd", 8) + "A",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xafA": strings.Repeat("\ufffd", 8) + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":    strings.Repeat("\ufffd", 5) + "A\ufffd\ufffdB",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA": strings.Repeat("\ufffd", 4) + "A",
		"é\xf0\x9f\x98\x80\xf0\x9f\x98":     "é😀\ufffd",
		"\ufffd\xe2\x82":                    "\ufffd\ufffd",
		"":                                  "",
	} {
		if got := lossy([]byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestByteChars asserts that each byte has a character of its own, which stands for it.
func TestByteChars(t *testing.T) {
	for b, c := range byteChars {
		if back, ok := charByte(c); !ok || int(back) != b {
			t.Errorf("byte %#x is written %q, which is byte %#x %v", b, c, back, ok)
		}
	}
	count := 0
	for c := rune(-1); c < 1000; c++ {
		if _, ok := charByte(c); ok {
			count++
		}
	}
	if count != 256 {
		t.Errorf("%d characters stand for bytes", count)
	}
}

package ir

import (
	"strings"
	"testing"
)

// TestSignature reads function types and prints them.
func TestSignature(t *testing.T) {
	for text, want := range map[string]string{
		"(f32[N,C], f32[C,K]) -> f32[N,K]": "",
		"(f32[N]) -> (i64[M], f32[M,2*N])": "",
		"() -> string[]":                   "",
		"(seq<f32>) -> ()":                 "",
		" ( f32[ N , 4] )->( bool[N] ) ":   "(f32[N,4]) -> bool[N]",
	} {
		if want == "" {
			want = text
		}
		s, err := ParseSignature(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s.String() != want {
			t.Errorf("%s is printed as %s", text, s)
		}
	}
	for text, want := range map[string]string{
		"":                         `"(" expected`,
		"f32[N] -> f32[N]":         `"(" expected`,
		"(f32[N])":                 `"->" expected`,
		"(f32[N]) ->":              "a word expected",
		"(f32[N] f32[N]) -> f32[]": `"," expected`,
		"(f31[N]) -> f32[N]":       "f31",
		"(f32) -> f32[]":           `"[" expected`,
		"(f32[N) -> f32[]":         `expected`,
		"(f32[N//2]) -> f32[]":     "dim: ",
		"(f32[N]) -> f32[N] f32":   `"f32" after the result`,
	} {
		_, err := ParseSignature(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "line") {
			t.Errorf("%s: error %v, %s expected", text, err, want)
		}
	}
}

// FuzzSignature checks that what is read is printed and read again as the same.
func FuzzSignature(f *testing.F) {
	f.Add("(f32[N,C], f32[C,K]) -> f32[N,K]")
	f.Add("() -> (opt<seq<f32[?]>>, map<i64,f32>)")
	f.Add("(f32[((((N]) -> none")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSignature(text)
		if err != nil {
			return
		}
		again, err := ParseSignature(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q is printed as %q and read as %q: %v", text, s, again, err)
		}
	})
}

package load

import (
	"strings"
	"testing"
)

// text puts the pieces of a type together again.
func (d declared) joined() string {
	var b strings.Builder
	for _, p := range d.pieces {
		if p.expr {
			b.WriteString("{" + p.text + "}")
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

func TestSignature(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "open",
		"(f32[N,28,28], i64[N]) -> f32[]":    "f32[N,28,28] i64[N] -> f32[]",
		"(f32[N]) -> (f32[], bool[N,{m.n}])": "f32[N] -> f32[] bool[N,{m.n}]",
		"()":                                 "open",
		"-> f32[2*N]":                        "-> f32[2*N]",
		"(f32[{f(m.a, T{1}.b[0])},2*{n}+S])": "f32[{f(m.a, T{1}.b[0])},2*{n}+S] open",
		"( f32[ N , 4 ] )->f16[]":            "f32[ N , 4 ] -> f16[]",
	} {
		s, faults := parseSignature(text)
		var got []string
		for _, d := range s.params {
			got = append(got, d.joined())
		}
		if s.open {
			got = append(got, "open")
		} else {
			got = append(got, "->")
		}
		for _, d := range s.results {
			got = append(got, d.joined())
		}
		if g := strings.Join(got, " "); len(faults) > 0 || g != want {
			t.Errorf("%q is read as %q with %v, want %q", text, g, faults, want)
		}
	}
}

func TestSignatureFaults(t *testing.T) {
	for text, want := range map[string]fault{
		"f32[N]":                    {0, "( expected"},
		"(f32[N]":                   {0, "is not closed"},
		"(f32[N],)":                 {8, "a type"},
		"(,f32[N])":                 {1, "a type"},
		"(f32[N,])":                 {7, "an extent is missing"},
		"(f32[N]) -> f32[N]]":       {18, "this ] closes nothing"},
		"(f32[{n])":                 {7, "closes nothing"},
		"(f32[N]x)":                 {7, `"x" after the type`},
		"(f32[n])":                  {5, "symbol n begins with a small letter"},
		"(f32[N//2])":               {5, `extent "N//2"`},
		"(string[N])":               {1, `unknown element type "string"`},
		"(f32[N]) -> f32[N] f32[N]": {19, "after the signature"},
	} {
		_, faults := parseSignature(text)
		if len(faults) == 0 || faults[0].at != want.at || !strings.Contains(faults[0].text, want.text) {
			t.Errorf("%q: %v, want %v", text, faults, want)
		}
	}
}

// FuzzSignature checks that parsing ends, that positions are within the text, and that a parsed
// signature covers all of the text.
func FuzzSignature(f *testing.F) {
	f.Add("(f32[N,28,{m.n}], i64[N]) -> (f32[], f32[N])")
	f.Add("(f32[{{}{},},((]) -> ")
	f.Add("-> -> (")
	f.Fuzz(func(t *testing.T, text string) {
		s, faults := parseSignature(text)
		for _, x := range faults {
			if x.at < 0 || x.at > len(text) {
				t.Errorf("%q: fault %v", text, x)
			}
		}
		if len(faults) > 0 {
			return
		}
		for _, list := range [][]declared{s.params, s.results} {
			for _, d := range list {
				if d.joined() != d.text || text[d.at:d.at+len(d.text)] != d.text {
					t.Errorf("%q: %q is %q at %d", text, d.joined(), d.text, d.at)
				}
			}
		}
	})
}

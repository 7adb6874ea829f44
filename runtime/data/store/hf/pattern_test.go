package hf

import (
	"slices"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	files := strings.Fields("a.csv b.csv d/a.csv d/e/a.csv d/e/ab.json a[1].csv x-y.csv +.csv")
	for p, want := range map[string]string{
		"a.csv": "a.csv", "*.csv": "a.csv b.csv a[1].csv x-y.csv +.csv", "**/a.csv": "a.csv d/a.csv d/e/a.csv", "d/**": "d/a.csv d/e/a.csv d/e/ab.json",
		"d/**/a.csv": "d/a.csv d/e/a.csv", "**": strings.Join(files, " "), "?.csv": "a.csv b.csv +.csv", "[ac].csv": "a.csv", "[!a].csv": "b.csv +.csv",
		"[^a].csv": "a.csv", "a[[]1].csv": "a[1].csv", "x[-.]y.csv": "x-y.csv", "+.csv": "+.csv", "*/*/*": "d/e/a.csv d/e/ab.json", "d": "", "": "", "a.cs": "", "../**": "", "d**/a.csv": "d/a.csv",
		"[": "", "[]": "", "./d/a.csv": "d/a.csv",
	} {
		got, err := matching(files, []string{p})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %q, want %q", p, err, got, want)
		}
	}
	got, err := matching(files, []string{"d/*", "*/a.csv", "b.csv"})
	if want := []string{"d/a.csv", "b.csv"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
}

func FuzzPatterns(f *testing.F) {
	for _, p := range []string{"a*", "[a-", "[]]", "[!", "**/[^x]/?", `\`, "[\\]", "[[:alpha:]]"} {
		f.Add(p, "a/b")
	}
	f.Fuzz(func(t *testing.T, p, name string) {
		re, err := pattern(p)
		if err != nil {
			return
		}
		if strings.ContainsAny(p, "*?[\n") || strings.HasPrefix(p, "./") || !strings.Contains(p, "/") {
			re.MatchString(name)
			return
		}
		if !re.MatchString(p) {
			t.Errorf("%q does not match itself", p)
		}
	})
}

func FuzzCard(f *testing.F) {
	for _, text := range []string{"", "---\n", "---\nconfigs:\n- data_files:\n  - split: a\n    path: [x]\n---\n", "---\nconfigs: [{data_files: {a: b, <<: {c: d}}}]\n---\n", "---\na: &a [*a]\n---\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseCard([]byte(text))
		if err != nil && list != nil {
			t.Error("configurations beside an error")
		}
	})
}

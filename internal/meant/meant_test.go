package meant

import "testing"

func TestSuffix(t *testing.T) {
	names := []string{"weights", "threads", "o"}
	for name, want := range map[string]string{"wieghts": "; did you mean -weights?", "treads": "; did you mean -threads?", "zzzzzz": ""} {
		if got := Suffix(name, names, "-%s"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Suffix("x", nil, "%s"); got != "" {
		t.Error(got)
	}
}

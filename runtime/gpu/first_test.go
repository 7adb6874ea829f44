package gpu

import (
	"errors"
	"fmt"
	"testing"
)

// TestFirst chooses among three targets by what the machine has and by the environment.
func TestFirst(t *testing.T) {
	card, renderer := []Info{{Name: "card"}}, []Info{{Name: "renderer", Software: true}}
	broken := errors.New("out of order")
	for _, c := range []struct {
		name, forced string
		first        []Info
		second       []Info
		fails        error // of the first target, on its device
		want         string
	}{
		{name: "both", first: card, second: card, want: "first"},
		{name: "one", second: card, want: "second"},
		{name: "none", want: "host"},
		{name: "software", first: renderer, second: renderer, want: "host"},
		{name: "forced software", forced: "second", first: card, second: renderer, want: "second"},
		{name: "forced", forced: "host", first: card, want: "host"},
		{name: "forced and missing", forced: "first", want: "BURNGEN_TARGET=first: no usable GPU"},
		{name: "unknown", forced: "metal", first: card, want: `BURNGEN_TARGET="metal": one of first, second, host expected`},
		{name: "broken", first: card, fails: broken, want: "out of order"},
	} {
		t.Setenv(targetVariable, c.forced)
		on := func(name string, infos []Info, fails error) Choice[string] {
			return Choice[string]{name, func(options ...Option) (string, error) {
				_, err := programOn(&listed{infos: infos, device: &counted{}}).Open(options...)
				if err == nil {
					err = fails
				}
				return name, err
			}}
		}
		got, err := First(nil, on("first", c.first, c.fails), on("second", c.second, nil),
			Choice[string]{"host", func(...Option) (string, error) { return "host", nil }})
		if err != nil {
			if got != "" {
				t.Errorf("%s: %q beside an error", c.name, got)
			}
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFirstOfNothing returns the errors of all targets if the last one is missing, too.
func TestFirstOfNothing(t *testing.T) {
	t.Setenv(targetVariable, "")
	missing := func(name string) Choice[int] {
		return Choice[int]{name, func(...Option) (int, error) { return 1, fmt.Errorf("%s: %w", name, ErrNoDevice) }}
	}
	got, err := First(nil, missing("a"), missing("b"))
	if got != 0 || errorText(err) != "a: no usable GPU\nb: no usable GPU" {
		t.Errorf("%d, %v", got, err)
	}
}

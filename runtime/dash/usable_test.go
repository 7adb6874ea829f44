//go:build unix || windows

package dash

import (
	"os"
	"runtime"
	"testing"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestWhatTheEnvironmentWants(t *testing.T) {
	for _, c := range []struct {
		getenv func(string) string
		want   bool
	}{{env(), false}, {env("CI", "true"), true}, {env("NO_COLOR", "1"), true}, {env("NO_COLOR", ""), false}} {
		if got := wantsLines(c.getenv); got != c.want {
			t.Errorf("CI %q, NO_COLOR %q: %v", c.getenv("CI"), c.getenv("NO_COLOR"), got)
		}
	}
	for _, c := range []struct {
		getenv func(string) string
		want   bool
	}{
		{env("LANG", "en_US.UTF-8"), false}, {env("LANG", "C.utf8"), false}, {env("LANG", "C"), true}, {env("LC_ALL", "C", "LANG", "de_DE.UTF-8"), true},
		{env("LC_CTYPE", "C.UTF-8", "LANG", "C"), false}, {env("TERM", "linux", "LANG", "C.UTF-8"), true},
		{env(), runtime.GOOS != "windows" && runtime.GOOS != "darwin"},
	} {
		if got := needsASCII(c.getenv); got != c.want {
			t.Errorf("TERM %q, LC_ALL %q, LC_CTYPE %q, LANG %q: %v", c.getenv("TERM"), c.getenv("LC_ALL"), c.getenv("LC_CTYPE"), c.getenv("LANG"), got)
		}
	}
}

func TestFilesAreNoTerminals(t *testing.T) {
	f, err := os.Open(os.DevNull) // a character device
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f, env("TERM", "xterm")) || isTerminal(nil, env()) {
		t.Error("a file is taken for a terminal")
	}
}

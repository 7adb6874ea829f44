//go:build unix || windows

package dash

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// isTerminal reports whether f is a terminal, and TERM is not "dumb".
func isTerminal(f *os.File, getenv func(string) string) bool {
	return f != nil && getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// wantsLines reports whether the environment asks for plain lines. NO_COLOR asks for them
// (no-color.org), and so does CI, which continuous integration services set.
func wantsLines(getenv func(string) string) bool {
	return getenv("NO_COLOR") != "" || getenv("CI") != ""
}

// needsASCII reports whether the terminal may be unable to show Unicode or Braille characters,
// which the console of Linux lacks. The first locale variable that is set decides (POSIX, section
// 8.2).
func needsASCII(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return runtime.GOOS != "windows" && runtime.GOOS != "darwin"
}

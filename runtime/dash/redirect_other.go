//go:build windows || aix || solaris || illumos

package dash

import (
	"log"
	"os"
)

// redirect sets os.Stdout to w. If withStderr is true, it also sets os.Stderr and, if package log
// printed to os.Stderr, the output of package log. Code that has already copied these variables
// still prints to the terminal. So does a panic. screen is the original os.Stdout, and undo
// restores the variables and closes w.
func redirect(w *os.File, withStderr bool, _ *os.File) (screen *os.File, undo func(), err error) {
	stdout, stderr, logged := os.Stdout, os.Stderr, log.Writer()
	os.Stdout = w
	if withStderr {
		os.Stderr = w
		if logged == stderr {
			log.SetOutput(w)
		}
	}
	return stdout, func() {
		os.Stdout, os.Stderr = stdout, stderr
		if logged == stderr {
			log.SetOutput(logged)
		}
		w.Close()
	}, nil
}

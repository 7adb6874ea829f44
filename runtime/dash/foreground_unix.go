//go:build unix && !aix && !solaris && !illumos

package dash

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground reports whether the process may change the terminal's settings. The system stops a
// background process that changes them.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

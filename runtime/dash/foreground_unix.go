//go:build unix && !aix && !solaris && !illumos

package dash

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground reports whether the process may change the terminal. The system stops a process of the
// background that tries.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

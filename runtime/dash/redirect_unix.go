//go:build unix && !aix && !solaris && !illumos

package dash

import (
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// redirect makes the file descriptor of standard output refer to w, so that all code of the process
// and of its children prints there. If withStderr is true, it also redirects standard error. screen
// is the original standard output, and undo restores the descriptors.
//
// If withStderr is true and a panic ends the program, the text of the panic goes to crash. If crash
// is nil, it goes to the original standard error.
func redirect(w *os.File, withStderr bool, crash *os.File) (screen *os.File, undo func(), err error) {
	screen, err = duplicate(unix.Stdout)
	if err != nil {
		return nil, nil, err
	}
	var stderr *os.File
	if withStderr {
		if stderr, err = duplicate(unix.Stderr); err != nil {
			screen.Close()
			return nil, nil, err
		}
		if crash == nil {
			crash = stderr
		}
		debug.SetCrashOutput(crash, debug.CrashOptions{})
	}
	undo = func() {
		unix.Dup2(int(screen.Fd()), unix.Stdout)
		if stderr != nil {
			debug.SetCrashOutput(nil, debug.CrashOptions{})
			unix.Dup2(int(stderr.Fd()), unix.Stderr)
			stderr.Close()
		}
	}
	if err = unix.Dup2(int(w.Fd()), unix.Stdout); err == nil && withStderr {
		err = unix.Dup2(int(w.Fd()), unix.Stderr)
	}
	if err != nil {
		undo()
		screen.Close()
		return nil, nil, err
	}
	w.Close()
	return screen, undo, nil
}

// duplicate returns a new file for what the descriptor fd refers to. Child processes do not inherit
// the new file.
func duplicate(fd int) (*os.File, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(n), "terminal"), nil
}

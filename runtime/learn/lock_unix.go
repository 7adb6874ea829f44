//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package learn

import (
	"os"
	"syscall"
)

// lockFile opens and locks a file. The lock ends when the file is closed or the process ends. It
// returns errLocked if another process has the lock.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if err == syscall.EWOULDBLOCK {
			err = errLocked
		}
		return nil, err
	}
	return f, nil
}

// syncFolder makes the names of the files in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

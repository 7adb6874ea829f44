//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package learn

import "os"

// lockFile opens a file without locking it, because this system does not have locks that end
// with the process.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
}

func syncFolder(string) error { return nil }

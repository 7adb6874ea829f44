package learn

import (
	"os"
	"syscall"
)

const errSharing = syscall.Errno(32)

// lockFile opens a file. No other process can open the file until it is closed. lockFile returns
// errLocked if another process has it open.
func lockFile(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const alone = 0 // no other handle may share the file
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, alone, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err == errSharing {
		return nil, errLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// syncFolder does nothing: Windows writes file names to disk together with the files.
func syncFolder(string) error { return nil }

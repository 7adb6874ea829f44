package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns the bytes of a regular file of fewer than `limit` bytes. It returns an error,
// without the path, if the file is missing or has `limit` bytes or more. It also returns an error
// for a folder, a device or a pipe, which may have no end.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("no such file")
	case err != nil:
		return nil, Cause(err)
	case info.IsDir():
		return nil, errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() >= limit:
		return nil, fmt.Errorf("%d bytes: fewer than %d expected", info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Cause(err)
	}
	defer f.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("changed while it was read: %w", err)
	}
	return data, nil
}

// Head returns the first bytes of a regular file: the bytes that [Format] needs. It returns nil if path is not a
// readable regular file.
func Head(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

// Cause returns the reason of an error of package os, without the path.
func Cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

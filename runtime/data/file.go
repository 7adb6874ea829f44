package data

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readFile calls decode with the contents of the file at `path`. It decompresses them if they are
// gzip. If path does not exist, it reads path+".gz". Its errors name the file.
func readFile(path string, decode func(io.Reader) error) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if zipped, missing := os.Open(path + ".gz"); missing == nil {
			f, err = zipped, nil
		}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := decompressed(f)
	if err == nil {
		err = decode(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

// decompressed returns a reader of the contents of r. It decompresses them if they are gzip.
func decompressed(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := buffered.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return buffered, nil
	}
	return gzip.NewReader(buffered)
}

// withoutMark returns a reader that reads r, except for a byte order mark of UTF-8 at the
// beginning.
func withoutMark(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if mark, _ := b.Peek(3); string(mark) == "\ufeff" {
		b.Discard(len(mark))
	}
	return b
}

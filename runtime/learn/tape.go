package learn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// tape is a file to which bytes are appended. Bytes wait in memory until they are flushed. If they
// cannot be written, they stay in memory, and the next flush writes them to the same place.
type tape struct {
	file interface {
		io.WriterAt
		io.Closer
	}
	// number of bytes in the file
	at      int64
	pending []byte
}

const maxPending = 16 << 20

// errBehind is the error of a tape if more than maxPending bytes would have to wait in memory.
var errBehind = errors.New("16 MiB could not be written")

// toEnd is a mark for [openTape]: the tape continues at the end of the file.
const toEnd = -1

// openTape opens a file, truncates it to its first `mark` bytes, and appends to them. If mark is
// toEnd or the file is shorter than mark, for example after a power failure, openTape instead calls
// `whole` with the contents of the file. It then truncates the file to the number of bytes that
// `whole` returns.
func openTape(path string, mark int64, whole func(file []byte) int) (*tape, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (mark == toEnd || info.Size() < mark) {
		var all []byte
		if all, err = io.ReadAll(f); err == nil {
			mark = int64(whole(all))
		}
	}
	if err == nil && info.Size() != mark {
		err = f.Truncate(mark)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &tape{file: f, at: mark}, nil
}

// wholeLines returns the length in bytes of the complete lines.
func wholeLines(file []byte) int { return bytes.LastIndexByte(file, '\n') + 1 }

// Write implements [io.Writer]. It returns an error if more than maxPending bytes would then wait
// in memory.
func (t *tape) Write(b []byte) (int, error) {
	if len(t.pending)+len(b) > maxPending {
		return 0, errBehind
	}
	t.pending = append(t.pending, b...)
	return len(b), nil
}

func (t *tape) mark() int64 { return t.at + int64(len(t.pending)) }

func (t *tape) flush() error {
	n, err := t.file.WriteAt(t.pending, t.at)
	t.at += int64(n)
	t.pending = t.pending[:copy(t.pending, t.pending[n:])]
	return err
}

func (t *tape) close() error {
	err := t.flush()
	return errors.Join(err, t.file.Close())
}

// parseMark parses a mark, a number of bytes. "" is 0.
func parseMark(mark string) (n int64, err error) {
	if mark == "" {
		return 0, nil
	}
	if _, err := fmt.Sscanf(mark, "%d", &n); err != nil || n < 0 {
		return 0, fmt.Errorf("mark %.100q of a saved state is not a number of bytes", mark)
	}
	return n, nil
}

package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Lines are the lines of a file, as a data set. Only the positions of the lines are in memory, eight
// bytes for each line. A line is read when it is asked for.
type Lines struct {
	file   *os.File
	starts []int64 // of each line, and the end of the last one
}

// OpenLines returns the lines of a file. The file must not change until the caller closes the lines.
func OpenLines(path string) (*Lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Lines{file: f, starts: []int64{0}}
	r := bufio.NewReaderSize(f, 1<<16)
	for at, fresh := int64(0), true; ; {
		part, err := r.ReadSlice('\n')
		at += int64(len(part))
		switch {
		case err == nil:
			l.starts, fresh = append(l.starts, at), true
		case errors.Is(err, bufio.ErrBufferFull):
			fresh = false
		case err == io.EOF:
			if len(part) > 0 || !fresh {
				l.starts = append(l.starts, at)
			}
			return l, nil
		default:
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
	}
}

// Len returns the number of lines.
func (l *Lines) Len() int { return len(l.starts) - 1 }

// At returns a line, without the end of the line: \n or \r\n. A \r at the end of the file is left out
// too. At may be called by several goroutines at a time. It returns an error if there is no such
// line, or it cannot be read.
func (l *Lines) At(i int) (string, error) {
	if i < 0 || i >= l.Len() {
		return "", fmt.Errorf("%s: line %d of %d", l.file.Name(), i, l.Len())
	}
	line := make([]byte, l.starts[i+1]-l.starts[i])
	if _, err := l.file.ReadAt(line, l.starts[i]); err != nil {
		return "", fmt.Errorf("line %d: %w", i, err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
}

// Close closes the file.
func (l *Lines) Close() error { return l.file.Close() }

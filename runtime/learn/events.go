package learn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// maxLine is the largest length of an event in JSON, in bytes.
const maxLine = 1 << 20

// head is the beginning of an event's line, before the name of its type.
const head = `{"event":"`

// AppendEvent appends an event as one line of JSON, with the end of the line. It returns an error
// if the event cannot be encoded, or if the line could exceed 1 MiB.
func AppendEvent(dst []byte, e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return dst, err
	}
	if len(body) > maxLine-64 {
		return dst, fmt.Errorf("event %s: %d bytes are more than a line may have", e.kind(), len(body))
	}
	dst = append(append(append(dst, head...), e.kind()...), `",`...)
	return append(append(dst, body[1:]...), '\n'), nil
}

// ParseEvent returns the event of a line that [AppendEvent] wrote. Fields that are not known are
// ignored.
func ParseEvent(line []byte) (Event, error) {
	if e, ok := readStepped(line); ok {
		return e, nil
	}
	rest, ok := bytes.CutPrefix(line, []byte(head))
	kind, _, found := bytes.Cut(rest, []byte{'"'})
	if !ok || !found {
		return nil, fmt.Errorf("the line does not begin with %s", head)
	}
	read, ok := readers[string(kind)]
	if !ok {
		return nil, fmt.Errorf("event %q is not known", kind)
	}
	return read(line)
}

var readers = readersOf(readerOf[Started], readerOf[Stepped], readerOf[Measured], readerOf[EpochEnded],
	readerOf[Saved], readerOf[Deleted], readerOf[Improved], readerOf[Warned], readerOf[Stopped])

type eventReader = func(line []byte) (Event, error)

func readersOf(all ...func() (string, eventReader)) map[string]eventReader {
	m := map[string]eventReader{}
	for _, r := range all {
		kind, read := r()
		m[kind] = read
	}
	return m
}

func readerOf[E Event]() (string, eventReader) {
	var e E
	return e.kind(), func(line []byte) (Event, error) {
		var e E
		err := json.Unmarshal(line, &e)
		return e, err
	}
}

// Events returns the events of a file of lines, in order. A last line without an end is dropped,
// because the process was killed while it wrote the line. A line that is not an event yields an
// error with its line number; the following events are still returned.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		for n := 1; ; n++ {
			line = line[:0]
			for {
				part, err := lines.ReadSlice('\n')
				if len(line)+len(part) <= maxLine {
					line = append(line, part...)
				} else {
					line = slices.Grow(line[:0], maxLine+1)[:maxLine+1] // too long: only the length counts
				}
				if err == nil {
					break
				}
				if err != bufio.ErrBufferFull {
					if !errors.Is(err, io.EOF) {
						yield(nil, err)
					}
					return
				}
			}
			e, err := parseLine(line)
			if err != nil {
				e, err = nil, fmt.Errorf("line %d: %w", n, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func parseLine(line []byte) (Event, error) {
	if len(line) > maxLine {
		return nil, errors.New("the line is longer than 1 MiB")
	}
	return ParseEvent(bytes.TrimRight(line, "\r\n"))
}

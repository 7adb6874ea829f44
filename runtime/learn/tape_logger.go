package learn

import (
	"path/filepath"
	"strconv"
)

type tapeLogger struct {
	// path in the folder of the run, with slashes
	name string
	// a continued run appends to the lines of the earlier one
	keeps bool
	head  string // first line
	put   func(t *tape, e Event) error

	tape *tape
}

func (l *tapeLogger) Open(dir, mark string) error {
	at, err := parseMark(mark)
	if err != nil {
		return err
	}
	if l.keeps && mark != "" {
		at = toEnd
	}
	if l.tape, err = openTape(filepath.Join(dir, filepath.FromSlash(l.name)), at, wholeLines); err != nil {
		return err
	}
	if l.tape.mark() == 0 && l.head != "" {
		_, err = l.tape.Write([]byte(l.head))
	}
	return err
}

func (l *tapeLogger) Event(e Event) error { return l.put(l.tape, e) }
func (l *tapeLogger) Mark() string        { return strconv.FormatInt(l.tape.mark(), 10) }
func (l *tapeLogger) Flush() error        { return l.tape.flush() }
func (l *tapeLogger) Close() error        { return l.tape.close() }

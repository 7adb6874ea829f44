package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// batchFiles logs the values of batches, in the layout of burn's file logger. It writes a file for each
// split, epoch and metric, such as train/epoch-1/Top-3_accuracy.log. A line is "value,items". The loss
// has a line for each batch. Other metrics have a line for each window of recent values.
type batchFiles struct {
	dir   string
	place batchPlace
	tapes map[string]*tape // of the epoch that is under way, by paths in dir
}

// batchPlace is the position of [batchFiles] in its files. It is the logger's mark, which [Logger.Open]
// gets back when a run continues.
type batchPlace struct {
	// number of the current epoch, from 1
	Epoch int
	// lengths in bytes of the epoch's files
	Files map[string]int64
	// items so far in the unfinished window of each split
	Items map[Split]int
}

func (l *batchFiles) Open(dir, mark string) error {
	*l = batchFiles{dir: dir, place: batchPlace{Epoch: 1}, tapes: map[string]*tape{}}
	if mark != "" {
		if err := json.Unmarshal([]byte(mark), &l.place); err != nil {
			return fmt.Errorf("mark of a saved state: %w", err)
		}
	}
	if l.place.Items == nil {
		l.place.Items = map[Split]int{}
	}
	if err := l.removeLater(); err != nil {
		return err
	}
	for name, size := range l.place.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("mark of a saved state: file %.100q is not in the folder", name)
		}
		t, err := openTape(filepath.Join(dir, filepath.FromSlash(name)), size, wholeLines)
		if err != nil {
			return err
		}
		l.tapes[name] = t
	}
	return nil
}

// removeLater removes the log files of later epochs, and the log files of the current epoch that l.place
// does not list.
func (l *batchFiles) removeLater() error {
	for _, split := range []Split{Train, Valid} {
		epochs, err := os.ReadDir(filepath.Join(l.dir, string(split)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range epochs {
			text, ok := strings.CutPrefix(e.Name(), "epoch-")
			n, err := strconv.Atoi(text)
			if !ok || err != nil || n < l.place.Epoch {
				continue
			}
			files, err := os.ReadDir(filepath.Join(l.dir, string(split), e.Name()))
			if err != nil {
				return err
			}
			for _, f := range files {
				name := path.Join(string(split), e.Name(), f.Name())
				if _, known := l.place.Files[name]; !known && path.Ext(name) == ".log" {
					if err := os.Remove(filepath.Join(l.dir, filepath.FromSlash(name))); err != nil {
						return err
					}
				}
			}
			os.Remove(filepath.Join(l.dir, string(split), e.Name())) // if it is empty
		}
	}
	return nil
}

func (l *batchFiles) Event(e Event) error {
	switch e := e.(type) {
	case EpochEnded:
		err := l.Close()
		l.place.Epoch, l.tapes = e.Epoch+2, map[string]*tape{}
		clear(l.place.Items)
		return err
	case Stepped:
		if e.Items == 0 {
			return nil
		}
		if err := l.put(e, "loss", e.Loss, e.Items); err != nil {
			return err
		}
		l.place.Items[e.Split] += e.Items
		if len(e.Values) == 0 {
			return nil
		}
		for _, v := range e.Values {
			if err := l.put(e, v.Name, v.Value, l.place.Items[e.Split]); err != nil {
				return err
			}
		}
		l.place.Items[e.Split] = 0
	}
	return nil
}

func (l *batchFiles) put(e Stepped, metric string, value Number, items int) error {
	name := path.Join(string(e.Split), "epoch-"+strconv.Itoa(e.Epoch+1), fileName(metric)+".log")
	t := l.tapes[name]
	if t == nil {
		var err error
		if t, err = openTape(filepath.Join(l.dir, filepath.FromSlash(name)), 0, wholeLines); err != nil {
			return err
		}
		l.tapes[name] = t
	}
	line := strconv.AppendFloat(make([]byte, 0, 32), float64(value), 'g', -1, 64)
	line = append(strconv.AppendInt(append(line, ','), int64(items), 10), '\n')
	_, err := t.Write(line)
	return err
}

// fileName returns a metric's name in the form that burn uses: "top-3 accuracy" becomes
// "Top-3_accuracy". It keeps letters, numbers and the characters -+.,@()=% and replaces any other
// character by "_".
func fileName(metric string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("-+.,@()=%", r) {
			return r
		}
		return '_'
	}, metric)
	first := []rune(name)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

func (l *batchFiles) Mark() string {
	l.place.Files = map[string]int64{}
	for name, t := range l.tapes {
		l.place.Files[name] = t.mark()
	}
	text, _ := json.Marshal(l.place) // texts and numbers have no error
	return string(text)
}

func (l *batchFiles) Flush() error { return l.each((*tape).flush) }
func (l *batchFiles) Close() error { return l.each((*tape).close) }

func (l *batchFiles) each(f func(*tape) error) error {
	var errs []error
	for _, t := range l.tapes {
		errs = append(errs, f(t))
	}
	return errors.Join(errs...)
}

package hf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/burngen/burngen/runtime/data"
)

// readText reads the items of a JSON or CSV file: the file `name` of fsys. comma separates the
// cells of a CSV file; 0 is the default. If the file is a JSON array, the line number in an error
// is the number of the element.
func readText[T any](fsys fs.FS, name string, f format, comma rune) (rows []T, err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := io.Reader(file)
	plain, zipped := strings.CutSuffix(name, ".gz")
	if zipped {
		if r, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if f == csvFile {
		if comma == 0 && strings.HasSuffix(strings.ToLower(plain), ".tsv") {
			comma = '\t'
		}
		rows, err = data.ReadCSV[T](r, data.CSVOptions{Comma: comma})
	} else if r, err = lines(r); err == nil {
		rows, err = data.ReadJSONL[T](r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

// lines returns a reader of JSON lines. If the text of r is a JSON array, its elements become
// the lines. Otherwise the text is returned as it is.
func lines(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(1 << 10)
	if err != nil && err != io.EOF {
		return nil, err
	}
	text, marked := bytes.CutPrefix(head, []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
		return b, nil
	}
	if marked {
		if _, err := b.Discard(len("\ufeff")); err != nil {
			return nil, err
		}
	}
	return elements(b)
}

// elements returns the elements of a JSON array as JSON lines.
func elements(r io.Reader) (io.Reader, error) {
	d := json.NewDecoder(r)
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for d.More() {
		var e json.RawMessage
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		if err := json.Compact(&out, e); err != nil {
			return nil, err
		}
		out.WriteByte('\n')
	}
	if _, err := d.Token(); err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("text after the array")
	}
	return &out, nil
}

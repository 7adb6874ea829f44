package record

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"

	"github.com/burngen/burngen/runtime/rt"
)

// jsonSink writes JSON. If pretty is false, it writes one line. If pretty is true, it writes each
// pair of a table and each row of a tensor on its own line.
type jsonSink struct {
	out    *bufio.Writer
	pretty bool
	open   []byte // closing brackets of the open containers
	empty  bool   // the innermost container has no values yet
	keyed  bool   // the next value follows a key
	rows   bool   // the innermost container is a list of rows
	line   []byte // scratch
}

func newJSONSink(out io.Writer) sink       { return &jsonSink{out: bufio.NewWriter(out)} }
func newPrettyJSONSink(out io.Writer) sink { return &jsonSink{out: bufio.NewWriter(out), pretty: true} }

func (j *jsonSink) table(int) { j.begin('{', '}') }
func (j *jsonSink) list(int)  { j.begin('[', ']') }

func (j *jsonSink) begin(first, last byte) {
	j.separate()
	j.out.WriteByte(first)
	j.open = append(j.open, last)
	j.empty = true
}

func (j *jsonSink) end() {
	last := j.open[len(j.open)-1]
	j.open = j.open[:len(j.open)-1]
	if last == '}' && !j.empty || j.rows {
		j.newLine()
	}
	j.rows = false
	j.out.WriteByte(last)
	j.empty = false
}

// separate writes what must be before a value: a comma if another value precedes, and white
// space.
func (j *jsonSink) separate() {
	switch {
	case len(j.open) == 0:
		return
	case j.keyed:
		j.keyed = false
		return
	case !j.empty:
		j.out.WriteByte(',')
	}
	if j.open[len(j.open)-1] == '}' {
		j.newLine()
	} else if j.pretty && !j.empty {
		j.out.WriteByte(' ')
	}
	j.empty = false
}

// newLine starts a line if pretty is true, and indents it by the number of open containers.
func (j *jsonSink) newLine() {
	if j.pretty {
		j.out.WriteByte('\n')
		for range j.open {
			j.out.WriteString("  ")
		}
	}
}

func (j *jsonSink) key(s string) {
	j.text(s)
	j.out.WriteByte(':')
	if j.pretty {
		j.out.WriteByte(' ')
	}
	j.keyed = true
}

// text writes s, which is valid UTF-8, as a string.
func (j *jsonSink) text(s string) {
	j.separate()
	j.out.WriteByte('"')
	from := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			j.out.WriteString(s[from:i])
			fmt.Fprintf(j.out, `\u%04x`, c)
			from = i + 1
		}
	}
	j.out.WriteString(s[from:])
	j.out.WriteByte('"')
}

func (j *jsonSink) integer(x int) {
	j.separate()
	j.line = strconv.AppendInt(j.line[:0], int64(x), 10)
	j.out.Write(j.line)
}

// data writes numbers and bools as a flat list in row-major order, and elements of other types as
// the Base64 of their bytes.
func (j *jsonSink) data(info rt.Info, raw []byte) error {
	e, ok := elements[info.DType]
	if !ok {
		j.separate()
		j.out.WriteByte('"')
		text := base64.NewEncoder(base64.StdEncoding, j.out)
		text.Write(raw)
		text.Close()
		j.out.WriteByte('"')
		return nil
	}
	n, row := len(raw)/e.width, 1
	if rank := len(info.Shape); rank > 0 {
		row = info.Shape[rank-1]
	}
	j.list(n)
	j.rows = row < n
	for i := range n {
		if i > 0 {
			j.out.WriteByte(',')
		}
		switch {
		case j.rows && i%row == 0:
			j.newLine()
		case j.pretty && i > 0:
			j.out.WriteByte(' ')
		}
		j.line = e.print(j.line[:0], raw[i*e.width:][:e.width])
		j.out.Write(j.line)
	}
	j.end()
	return nil
}

func (j *jsonSink) flush() error {
	if j.pretty {
		j.out.WriteByte('\n')
	}
	return j.out.Flush()
}

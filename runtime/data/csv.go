package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// CSVOptions describes the syntax of a table. The zero value is the syntax of RFC 4180, with a
// header.
type CSVOptions struct {
	Comma    rune // separator of cells; 0 means a comma
	Comment  rune // first character of lines to skip; 0 means no comments
	NoHeader bool // the first line is a record too
	NoQuotes bool // quotes are ordinary text: every line is a record, every separator ends a cell
}

// CSV reads a table of comma-separated values into a slice of structs, one for each record. A field
// of the struct is a string, bool, integer or float. It may also be an array of such elements,
// which takes adjacent columns. A field belongs to the column whose header equals the name in the
// field's tag. If the tag has no name, the header must equal the name of the field. Case is
// ignored. For example:
//
//	type Wine struct {
//		Features [11]float32 `data:"fixed acidity"` // and the ten columns after it
//		Quality  float32     `data:"quality"`
//		Note     string      `data:"-"`             // not in the table
//		Age      float32     `data:"age,optional"`  // NaN where the cell is empty; 0 for integers
//	}
//
// See [Columns] for the tags.
//
// If the table has no header, columns are taken in order. White space around numbers is ignored.
// The file may be compressed with gzip. If path does not exist, CSV reads path+".gz".
//
// CSV returns an error, with line and column, for a cell that does not fit the field's type. An
// empty cell fits a string, and a field that is optional. CSV also returns an error for records of
// different lengths, for a missing column, and if T is not a suitable struct.
func CSV[T any](path string, o CSVOptions) (rows []T, err error) {
	err = readFile(path, func(r io.Reader) (err error) {
		rows, err = ReadCSV[T](r, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	return rows, nil
}

// ReadCSV reads a table from r, like [CSV]. r must not be compressed. ReadCSV returns an error if r
// is nil.
func ReadCSV[T any](r io.Reader, o CSVOptions) ([]T, error) {
	if r == nil {
		return nil, errors.New("no reader to read from")
	}
	next := o.records(r)
	record, err := next()
	if err == io.EOF && !o.NoHeader {
		err = errors.New("no header")
	}
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	width := len(record.cells)
	fields, err := fieldsOf(reflect.TypeFor[T](), record.cells, o.NoHeader)
	if err != nil {
		return nil, err
	}
	if !o.NoHeader {
		record, err = next()
	}
	var rows []T
	for ; err == nil; record, err = next() {
		if len(record.cells) != width {
			return nil, fmt.Errorf("line %d: %d cells: %d expected", record.line, len(record.cells), width)
		}
		var row T
		for _, f := range fields {
			if err := f.fill(reflect.ValueOf(&row).Elem(), record); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	if err != io.EOF {
		return nil, err
	}
	return rows, nil
}

type record struct {
	cells []string
	line  int
	at    func(i int) (line, column int) // position of a cell
}

// records returns a function that reads the next row of the table. The function returns io.EOF at
// the end.
func (o CSVOptions) records(r io.Reader) (next func() (record, error)) {
	b := withoutMark(r)
	if o.Comma == 0 {
		o.Comma = ','
	}
	if o.NoQuotes {
		return o.lines(b)
	}
	c := csv.NewReader(b)
	c.Comma, c.Comment, c.FieldsPerRecord, c.ReuseRecord = o.Comma, o.Comment, -1, true
	return func() (record, error) {
		cells, err := c.Read()
		if err != nil {
			return record{}, err
		}
		line, _ := c.FieldPos(0)
		return record{cells, line, c.FieldPos}, nil
	}
}

// lines is [CSVOptions.records] for NoQuotes. It skips empty lines.
func (o CSVOptions) lines(b *bufio.Reader) (next func() (record, error)) {
	line := 0
	return func() (record, error) {
		for {
			text, err := b.ReadString('\n')
			if text == "" {
				return record{}, err
			}
			line++
			text = strings.TrimRight(text, "\r\n")
			if text == "" || o.Comment != 0 && strings.HasPrefix(text, string(o.Comment)) {
				continue
			}
			cells := strings.Split(text, string(o.Comma))
			at := func(i int) (int, int) {
				column := 1
				for _, c := range cells[:i] {
					column += len(c) + len(string(o.Comma))
				}
				return line, column
			}
			return record{cells, line, at}, nil
		}
	}
}

type field struct {
	name  string
	index int // in the struct
	// index of the first column
	column   int
	count    int // number of columns
	array    bool
	optional bool
	parse    func(v reflect.Value, text string) error
}

// fieldsOf finds the columns of the fields of struct type t. It returns one error for all problems,
// such as missing columns and fields of unsupported types.
func fieldsOf(t reflect.Type, header []string, inOrder bool) ([]field, error) {
	columns, errs := columnsOf(t)
	if columns == nil && errs != nil {
		return nil, errors.Join(errs...)
	}
	var fields []field
	column := 0
	for _, c := range columns {
		sf := t.Field(c.Field)
		f := field{name: c.Name, index: c.Field, count: 1, optional: c.Optional}
		typ := sf.Type
		if f.array = typ.Kind() == reflect.Array; f.array {
			f.count, typ = typ.Len(), typ.Elem()
		}
		f.parse = parsers[typ.Kind()]
		f.column = column
		if !inOrder {
			f.column = c.Index(header)
		}
		switch {
		case f.parse == nil:
			errs = append(errs, fmt.Errorf("field %s is a %v: text, bools, numbers and arrays of them expected", sf.Name, sf.Type))
		case f.column < 0:
			errs = append(errs, fmt.Errorf("field %s: no column %q", sf.Name, c.Name))
		case f.count > len(header)-f.column:
			errs = append(errs, fmt.Errorf("field %s: takes %d columns from column %d on: there are %d", sf.Name, f.count, f.column+1, len(header)))
		}
		column += min(f.count, len(header))
		fields = append(fields, f)
	}
	if inOrder && len(errs) == 0 && column != len(header) {
		errs = append(errs, fmt.Errorf("%d columns: the fields of %v take %d", len(header), t, column))
	}
	return fields, errors.Join(errs...)
}

func (f *field) fill(row reflect.Value, r record) error {
	v := row.Field(f.index)
	for k := range f.count {
		cell := v
		if f.array {
			cell = v.Index(k)
		}
		text := r.cells[f.column+k]
		if f.optional && strings.TrimSpace(text) == "" {
			setMissing(cell)
			continue
		}
		if err := f.parse(cell, text); err != nil {
			line, column := r.at(f.column + k)
			return fmt.Errorf("line %d, column %d: %s: %.100q is not a %v", line, column, f.name, text, cell.Type())
		}
	}
	return nil
}

// parsers holds a function for each kind of field. The function sets the field v to the value of a
// cell's text.
var parsers = func() map[reflect.Kind]func(v reflect.Value, text string) error {
	m := map[reflect.Kind]func(v reflect.Value, text string) error{
		reflect.String: func(v reflect.Value, text string) error {
			v.SetString(text)
			return nil
		},
		reflect.Bool: func(v reflect.Value, text string) error {
			b, err := strconv.ParseBool(strings.TrimSpace(text))
			v.SetBool(b)
			return err
		},
	}
	for _, k := range []reflect.Kind{reflect.Float32, reflect.Float64} {
		m[k] = func(v reflect.Value, text string) error {
			x, err := strconv.ParseFloat(strings.TrimSpace(text), v.Type().Bits())
			v.SetFloat(x)
			return err
		}
	}
	for k := reflect.Int; k <= reflect.Int64; k++ {
		m[k] = func(v reflect.Value, text string) error {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, v.Type().Bits())
			v.SetInt(n)
			return err
		}
	}
	for k := reflect.Uint; k <= reflect.Uint64; k++ {
		m[k] = func(v reflect.Value, text string) error {
			n, err := strconv.ParseUint(strings.TrimSpace(text), 10, v.Type().Bits())
			v.SetUint(n)
			return err
		}
	}
	return m
}()

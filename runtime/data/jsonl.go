package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// JSONL reads a file of JSON lines into a slice of structs, one for each line. A line is an object;
// empty lines are skipped. [Columns] says which field of T a key belongs to. The key may differ in
// case. Other keys are ignored. A field may have any type that encoding/json supports. A field that
// is an array needs a JSON array of the same length. The file may be compressed with gzip. If path
// does not exist, JSONL reads path+".gz".
//
// JSONL returns an error, with the line, for text that is not JSON, and for a value that does not
// fit the field's type. It also returns an error if a value of a field that is not optional is null
// or missing, or if T is not a suitable struct.
func JSONL[T any](path string) (rows []T, err error) {
	err = readFile(path, func(r io.Reader) (err error) {
		rows, err = ReadJSONL[T](r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("jsonl: %w", err)
	}
	return rows, nil
}

// ReadJSONL reads JSON lines from r, like [JSONL]. r must not be compressed. ReadJSONL returns an
// error if r is nil.
func ReadJSONL[T any](r io.Reader) ([]T, error) {
	if r == nil {
		return nil, errors.New("no reader to read from")
	}
	columns, err := Columns[T]()
	if err != nil {
		return nil, err
	}
	var rows []T
	b := withoutMark(r)
	for line := 1; ; line++ {
		text, err := b.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if len(bytes.TrimSpace(text)) > 0 {
			var row T
			if err := readObject(reflect.ValueOf(&row).Elem(), columns, text); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			return rows, nil
		}
	}
}

// readObject sets the fields of row from a JSON object.
func readObject(row reflect.Value, columns []Column, text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	for _, c := range columns {
		v := row.Field(c.Field)
		value, ok := valueOf(object, c.Name)
		if missing := !ok || string(value) == "null"; missing && c.Optional {
			setMissing(v)
			continue
		}
		if !ok {
			return fmt.Errorf("no key %q", c.Name)
		}
		if err := setJSON(v, value); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// valueOf returns the value of a key, and whether there is one. If no key equals `name`, it takes
// the first key, in sorted order, that differs from `name` only in case.
func valueOf(object map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	if value, ok := object[name]; ok {
		return value, true
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if strings.EqualFold(key, name) {
			return object[key], true
		}
	}
	return nil, false
}

// setJSON sets v to a JSON value. Unlike encoding/json, it returns an error if text is null. It
// also returns an error if v is a Go array and the JSON array has another length.
func setJSON(v reflect.Value, text json.RawMessage) error {
	if string(text) == "null" {
		return fmt.Errorf("null is not a %v", v.Type())
	}
	if _, own := v.Addr().Interface().(json.Unmarshaler); own || v.Kind() != reflect.Array {
		return json.Unmarshal(text, v.Addr().Interface())
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(text, &elements); err != nil {
		return err
	}
	if len(elements) != v.Len() {
		return fmt.Errorf("%d elements: %v expected", len(elements), v.Type())
	}
	for i, e := range elements {
		if err := setJSON(v.Index(i), e); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Writer writes a table; see [Create]. It must not be used by several goroutines at once.
type Writer[T any] struct {
	connection *connection
	insert     driver.Stmt
	cells      []cell
	arguments  []driver.NamedValue
	n          int
	err        error // of the first item that could not be written
}

// Create creates a table with a column for each of T's [data.Columns], and one more, row_id, which
// numbers the rows from 1. If the file at path does not exist, Create creates it; otherwise the table
// is added to it. The rows appear in the file when [Writer.Close] returns without an error.
//
// [Open] says which types fields may have. If a field is optional, a NaN, a nil pointer or a nil
// slice in it becomes NULL.
//
// Create returns an error if the file is not an SQLite file or already has a table of this name. It
// also returns an error if a field has another type, if the names of two columns differ only in case,
// or if a column is named row_id.
func Create[T any](path, table string) (*Writer[T], error) {
	w := new(Writer[T])
	if err := w.create(path, table); err != nil {
		if w.connection != nil {
			w.connection.Close()
		}
		return nil, fmt.Errorf("sqlite: %s: %w", path, err)
	}
	return w, nil
}

func (w *Writer[T]) create(path, table string) (err error) {
	if w.cells, err = typedCells[T](); err != nil {
		return err
	}
	if table == "" || strings.ContainsRune(table, 0) {
		return fmt.Errorf("%q does not name a table", table)
	}
	address, err := addressOf(path, "rwc")
	if err != nil {
		return err
	}
	if w.connection, err = connect(address); err != nil {
		return err
	}
	var definitions, names, places []string
	for _, c := range w.cells {
		definition := quoted(c.Name) + " " + c.declared
		if !c.Optional {
			definition += " not null"
		}
		place := "?"
		if c.declared == "blob" {
			place = "cast(? as blob)" // an empty one is passed as a text
		}
		definitions, names, places = append(definitions, definition), append(names, quoted(c.Name)), append(places, place)
		w.arguments = append(w.arguments, driver.NamedValue{Ordinal: len(names)})
	}
	for _, statement := range []string{
		"begin immediate",
		"create table " + quoted(table) + " (row_id integer primary key autoincrement not null, " + strings.Join(definitions, ", ") + ")",
	} {
		if err := w.connection.each(statement, nil); err != nil {
			return err
		}
	}
	w.insert, err = w.connection.Prepare("insert into " + quoted(table) + " (" + strings.Join(names, ", ") + ") values (" + strings.Join(places, ", ") + ")")
	return err
}

// Write writes an item as the next row. It returns an error if the file cannot be written, if an
// unsigned integer exceeds 2⁶³-1, or if a NaN or a nil pointer is in a field that is not optional.
// After such an error the table is abandoned: later calls return the same error.
func (w *Writer[T]) Write(item T) error {
	if w.err != nil {
		return w.err
	}
	v := reflect.ValueOf(&item).Elem()
	for k, c := range w.cells {
		x, err := c.value(v.Field(c.Field))
		if err != nil {
			w.err = fmt.Errorf("sqlite: item %d: %s: %w", w.n, c.Name, err)
			return w.err
		}
		w.arguments[k].Value = x
	}
	if _, err := w.insert.(driver.StmtExecContext).ExecContext(context.Background(), w.arguments); err != nil {
		w.err = fmt.Errorf("sqlite: item %d: %w", w.n, err)
		return w.err
	}
	w.n++
	return nil
}

// value converts a field to the value that SQLite stores. It returns an error if the value is
// missing and the column is not optional.
func (c *cell) value(v reflect.Value) (x driver.Value, err error) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if missing := v.Kind() == reflect.Pointer || c.Optional && v.Kind() == reflect.Slice && v.IsNil(); !missing {
		x, err = c.encode(v)
	}
	if x == nil && err == nil && !c.Optional {
		err = errors.New("the value is missing, and the field is not optional")
	}
	return x, err
}

// Close completes the table. If an item could not be written, Close removes the table and returns the
// error of the item. A second call returns an error.
func (w *Writer[T]) Close() error {
	if w.insert == nil {
		return errors.New("sqlite: the writer is closed")
	}
	w.insert.Close()
	w.insert = nil
	if w.err == nil {
		if err := w.connection.each("commit", nil); err != nil {
			w.err = fmt.Errorf("sqlite: %w", err)
		}
	}
	err := w.connection.Close() // rolls back rows that are not committed
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("sqlite: the writer is closed")
	return err
}

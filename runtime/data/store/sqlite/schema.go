package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/data"
)

type schema struct {
	table string // its name in the file
	// of the columns, without generated columns
	names []string
	types []string // as declared
	// name of the row id in queries
	id string
}

// schemaOf finds a table by its name, regardless of case.
func schemaOf(c *connection, table string) (schema, error) {
	s := schema{}
	var all []string
	err := c.each("select name, type, wr from pragma_table_list where schema = 'main' order by name", func(row []driver.Value) error {
		name, kind := text(row[0]), text(row[1])
		if !strings.HasPrefix(name, "sqlite_") {
			all = append(all, fmt.Sprintf("%q", name))
		}
		switch {
		case !strings.EqualFold(name, table):
		case kind != "table":
			return fmt.Errorf("%q is a %s: a table expected", name, kind)
		case row[2] != int64(0):
			return fmt.Errorf("table %q is without row ids", name)
		default:
			s.table = name
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	if s.table == "" {
		return s, fmt.Errorf("no table %q: there is %s", table, strings.Join(append(all, "no other"), ", "))
	}
	err = c.each("select name, type from pragma_table_info(?)", func(row []driver.Value) error {
		s.names, s.types = append(s.names, text(row[0])), append(s.types, text(row[1]))
		return nil
	}, s.table)
	if err != nil {
		return s, err
	}
	// A column with the name of the row id hides it.
	for _, id := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(s.names, func(name string) bool { return strings.EqualFold(name, id) }) {
			s.id = id
			return s, nil
		}
	}
	return s, errors.New("columns hide the row ids")
}

// serialized reports whether the table stores items of type t as MessagePack, in the columns row_id
// and item.
func (s *schema) serialized(t reflect.Type) bool {
	if len(s.names) != 2 || !strings.EqualFold(s.names[0], "row_id") || !strings.EqualFold(s.types[0], "integer") ||
		!strings.EqualFold(s.names[1], "item") || !strings.EqualFold(s.types[1], "blob") {
		return false
	}
	columns, _ := data.ColumnsOf(t)
	return !slices.ContainsFunc(columns, func(c data.Column) bool { return strings.EqualFold(c.Name, "item") })
}

func text(v driver.Value) string {
	s, _ := v.(string)
	return s
}

// quoted returns name as an identifier in SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

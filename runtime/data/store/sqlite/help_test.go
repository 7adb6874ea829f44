package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/burngen/burngen/runtime/data/store/sqlite"
)

// file makes a file of SQLite with statements, each with its arguments.
func file(t testing.TB, statements ...[]any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b?#%.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Dir(path))+"/a%20b%3f%23%25.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s[0].(string), s[1:]...); err != nil {
			t.Fatalf("%s: %v", s[0], err)
		}
	}
	return path
}

// do is a statement with its arguments.
func do(statement string, arguments ...any) []any { return append([]any{statement}, arguments...) }

// create writes a table of items.
func create[T any](t testing.TB, path, table string, items ...T) {
	t.Helper()
	w, err := sqlite.Create[T](path, table)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range items {
		if err := w.Write(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// open opens a table that the test closes.
func open[T any](t testing.TB, path, table string) *sqlite.Table[T] {
	t.Helper()
	d, err := sqlite.Open[T](path, table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func failed[T any](_ T, err error) error { return err }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}

// equal compares items, in which NaN equals itself.
func equal[T any](a, b T) bool { return cmp.Equal(a, b, cmpopts.EquateNaNs()) }

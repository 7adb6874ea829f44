package sqlite_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data/store/sqlite"
)

func TestMistakesInWriting(t *testing.T) {
	type row struct {
		A float64
		B *int
		C uint64
	}
	one := 1
	good := row{1, &one, 2}
	for want, bad := range map[string]row{
		"sqlite: item 1: A: the value is missing, and the field is not optional":     {math.NaN(), &one, 2},
		"sqlite: item 1: B: the value is missing, and the field is not optional":     {1, nil, 2},
		"sqlite: item 1: C: 9223372036854775808 exceeds 2^63-1, the largest INTEGER": {1, &one, 1 << 63},
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		create(t, path, "other", good)
		w, err := sqlite.Create[row](path, "t")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(good); err != nil {
			t.Error(err)
		}
		wantError(t, w.Write(bad), want)
		wantError(t, w.Write(good), want)
		wantError(t, w.Close(), want)
		wantError(t, w.Close(), "sqlite: the writer is closed")
		wantError(t, failed(sqlite.Open[row](path, "t")), "sqlite: "+path+`: no table "t": there is "other", no other`)
		if d := open[row](t, path, "other"); d.Len() != 1 {
			t.Errorf("%d rows in the other table", d.Len())
		}
	}
	path := filepath.Join(t.TempDir(), "x.db")
	create(t, path, "t", good)
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"exists":   {failed(sqlite.Create[row](path, "T")), `table "T" already exists`},
		"reserved": {failed(sqlite.Create[row](path, "sqlite_x")), "object name reserved"},
		"unnamed":  {failed(sqlite.Create[row](path, "")), `"" does not name a table`},
		"nul":      {failed(sqlite.Create[row](path, "a\x00b")), `"a\x00b" does not name a table`},
		"no type":  {failed(sqlite.Create[struct{ A any }](path, "u")), `column "A" is a interface {}`},
		"row_id": {failed(sqlite.Create[struct {
			A int `data:"Row_Id"`
		}](path, "u")), "duplicate column name"},
		"folder": {failed(sqlite.Create[struct{ A int }](path+"/x", "u")), "unable to open"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", name, tt.err, tt.want)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := failed(sqlite.Create[row](text, "t")); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Error(err)
	}
}

// TestUnfinishedTables asserts that rows appear when the writer is closed, and not before.
func TestUnfinishedTables(t *testing.T) {
	type row struct{ A int }
	path := filepath.Join(t.TempDir(), "x.db")
	w, err := sqlite.Create[row](path, "t")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(row{1}); err != nil {
		t.Fatal(err)
	}
	if err := failed(sqlite.Open[row](path, "t")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a table before Close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(row{2}); err == nil {
		t.Error("a row after Close")
	}
	if d := open[row](t, path, "t"); d.Len() != 1 {
		t.Errorf("%d rows", d.Len())
	}
}

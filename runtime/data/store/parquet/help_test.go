package parquet_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	writer "github.com/parquet-go/parquet-go"

	"github.com/burngen/burngen/runtime/data/store/parquet"
)

// encoded returns a file of rows, whose type has the tags of the library. Row groups have as many rows
// as group says.
func encoded[R any](t testing.TB, group int64, rows []R, options ...writer.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := writer.NewGenericWriter[R](&b, append(options, writer.MaxRowsPerRowGroup(group))...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// write writes a file in a folder that the test has for itself.
func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens files that the test closes.
func open[T any](t testing.TB, files ...string) *parquet.Table[T] {
	t.Helper()
	d, err := parquet.Open[T](files...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func failed[T io.Closer](d T, err error) error {
	if err == nil {
		d.Close()
	}
	return err
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}

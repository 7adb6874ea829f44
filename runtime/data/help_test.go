package data_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
)

// write writes a file in a folder that the test has for itself.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func failed[T any](_ T, err error) error { return err }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}

// numbers returns the data set of the numbers from 0 to n-1.
func numbers(n int) data.Dataset[int] { return data.Of(upTo(n)) }

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// items returns all items of a data set without errors.
func items[T any](t testing.TB, d data.Dataset[T]) []T {
	t.Helper()
	list := []T{}
	for x, err := range data.All(d) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// laws tests a data set that has these items.
func laws[T any](t *testing.T, d data.Dataset[T], want []T) {
	t.Helper()
	if want == nil {
		want = []T{}
	}
	datatest.Run(t, d, datatest.Options[T]{Want: want})
}

// blocks is a data set of the numbers from 0 to n-1 that reads in blocks. It counts calls, and fails
// at item bad-1.
type blocks struct {
	n, block, bad  int
	one, many, all atomic.Int64 // calls of At and Many, and items of Many
}

func (b *blocks) Len() int   { return b.n }
func (b *blocks) Block() int { return b.block }

func (b *blocks) At(i int) (int, error) {
	b.one.Add(1)
	return b.item(i)
}

func (b *blocks) item(i int) (int, error) {
	if i < 0 || i >= b.n || i == b.bad-1 {
		return 0, errBad
	}
	return i, nil
}

func (b *blocks) Many(dst, at []int) (err error) {
	b.many.Add(1)
	b.all.Add(int64(len(at)))
	if len(dst) != len(at) {
		return errBad
	}
	for k, i := range at {
		if dst[k], err = b.item(i); err != nil {
			return err
		}
	}
	return nil
}

var errBad = errors.New("bad item")

// broken is a data set with an error.
var broken = data.Part(data.Of([]int{1}), -1, 0)

const brokenText = "part: items -1 to 0: there are 1 items"

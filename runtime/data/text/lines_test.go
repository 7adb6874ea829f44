package text

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestLines asserts what the lines of files are, with and without an end of the last one.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	for _, c := range []struct {
		file string
		want []string
	}{
		{"", nil}, {"\n", []string{""}}, {"a", []string{"a"}}, {"a\nb\n", []string{"a", "b"}}, {"a\r\n\n\rb", []string{"a", "", "\rb"}},
		{long + "\n" + long, []string{long, long}}, {long[:1<<16] + "\n", []string{long[:1<<16]}}, {long[:1<<16], []string{long[:1<<16]}},
	} {
		path := t.TempDir() + "/lines.txt"
		if err := os.WriteFile(path, []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLines(path)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, l.Len())
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() {
				var err error
				if got[i], err = l.At(i); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if !slices.Equal(got, c.want) {
			t.Errorf("%.20q: got %.20q, want %.20q", c.file, got, c.want)
		}
		for _, i := range []int{-1, l.Len()} {
			if _, err := l.At(i); err == nil {
				t.Errorf("line %d: no error", i)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.At(0); err == nil {
			t.Error("closed: no error")
		}
	}
	if _, err := OpenLines(t.TempDir() + "/none"); err == nil {
		t.Error("no file: no error")
	}
}

// TestFiles asserts that items are the contents of files, in order.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "one", "b": ""} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f := OpenFiles(dir+"/b", dir+"/a", dir+"/none")
	for i, want := range []string{"", "one"} {
		if got, err := f.At(i); err != nil || got != want {
			t.Errorf("file %d: got %q %v, want %q", i, got, err, want)
		}
	}
	for _, i := range []int{-1, 2, 3} {
		if _, err := f.At(i); err == nil {
			t.Errorf("file %d: no error", i)
		}
	}
}

package gpu

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// cacheFolder makes the user's cache folder a new one and returns that of burngen in it.
func cacheFolder(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		t.Skip("there is no cache folder here: ", err)
	}
	return filepath.Join(user, "burngen")
}

func TestCache(t *testing.T) {
	folder := cacheFolder(t)
	if got := ReadCache("x"); got != nil {
		t.Errorf("an empty cache has %q", got)
	}
	for _, data := range []string{"", "one", "two\x00three"} {
		if err := WriteCache("x", []byte(data)); err != nil {
			t.Fatal(err)
		}
		if got := ReadCache("x"); string(got) != data {
			t.Errorf("read %q, want %q", got, data)
		}
	}
	file := filepath.Join(folder, "x")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		broken := bytes.Clone(whole)
		broken[i] ^= 1
		for _, bad := range [][]byte{broken, whole[:i]} {
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := ReadCache("x"); got != nil {
				t.Fatalf("a file with an error at byte %d gives %q", i, got)
			}
		}
	}
	if err := WriteCache("no/such/folder", nil); err == nil {
		t.Error("a name that is a path is no error")
	}
}

func TestCacheOfManyWriters(t *testing.T) {
	folder := cacheFolder(t)
	want := map[string]bool{}
	for i := range 8 {
		want[string(bytes.Repeat([]byte(strconv.Itoa(i)), 1000))] = true
	}
	var wg sync.WaitGroup
	for data := range want {
		wg.Go(func() {
			for range 20 {
				if err := WriteCache("x", []byte(data)); err != nil {
					t.Error(err)
				}
				if got := ReadCache("x"); !want[string(got)] {
					t.Errorf("read %.20q", got)
				}
			}
		})
	}
	wg.Wait()
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, want 1 (%v)", len(files), err)
	}
}

package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCacheLimit removes the entries that were not used for the longest time, and what killed programs left.
func TestCacheLimit(t *testing.T) {
	folder := t.TempDir()
	code := make([]byte, 1000)
	c := newCache(func() string { return folder }, 3*int64(len(code)+headerBytes+3))
	names := []string{"a", "b", "c", "d"}
	write := func(name string) {
		c.entry(name).write(code, "log")
		// File systems may keep times in steps.
		for i, n := range names {
			at := time.Now().Add(time.Duration(i-10) * time.Minute)
			if n == name {
				os.Chtimes(c.entry(n).path, at, at)
			}
		}
	}
	for _, name := range names[:3] {
		write(name)
	}
	if _, log, ok := c.entry("a").read(); !ok || log != "log" { // is now the newest
		t.Error("a was not kept")
	}
	left, other := filepath.Join(folder, "1.partial"), filepath.Join(folder, "other")
	for _, name := range []string{left, other, filepath.Join(folder, "2.partial")} {
		if err := os.WriteFile(name, code, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	write("d")
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, _, ok := c.entry(name).read(); ok != want {
			t.Errorf("%s is there: %v, want %v", name, ok, want)
		}
	}
	for path, want := range map[string]bool{left: false, other: true, filepath.Join(folder, "2.partial"): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

// TestCacheSweepsRarely writes entries that are small beside the limit. Only the first of them, and one after 1/16 of
// the limit, makes the cache look through its folder.
func TestCacheSweepsRarely(t *testing.T) {
	folder := t.TempDir()
	const size = 1000
	c := newCache(func() string { return folder }, 10*sweepShare*size)
	left := filepath.Join(folder, "left.partial")
	for i := range 30 {
		old := time.Now().Add(-2 * time.Hour)
		if err := errors.Join(os.WriteFile(left, nil, 0o600), os.Chtimes(left, old, old)); err != nil {
			t.Fatal(err)
		}
		c.entry(fmt.Sprint(i)).write(make([]byte, size-4), "") // 4 bytes are the length of the log
		_, err := os.Stat(left)
		if swept, want := err != nil, i%11 == 0; swept != want {
			t.Errorf("entry %d: swept %t, want %t", i, swept, want)
		}
	}
}

// TestCacheKeys differ by every part, and by where parts end.
func TestCacheKeys(t *testing.T) {
	c := newCache(func() string { return "folder" }, 0)
	seen := map[string]bool{}
	for _, key := range [][]string{{}, {""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}} {
		path := c.entry(key...).path
		if seen[path] {
			t.Errorf("%q has the entry of another key", key)
		}
		seen[path] = true
	}
	if e := newCache(func() string { return "" }, 0).entry("a"); e.path != "" {
		t.Error("a cache without a folder has a path")
	}
}

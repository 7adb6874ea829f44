package sqlite

import (
	"path/filepath"
	"testing"
)

// TestCacheLimit asserts that free connections share the memory for pages, and that SQLite knows.
func TestCacheLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	w, err := Create[struct{ A int }](path, "t")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	address, err := addressOf(path, "ro")
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{address: address}
	defer p.Close()
	for _, n := range []int{1, 3, 2} { // connections in use at once
		var used []*connection
		for range n {
			c, err := p.get()
			if err != nil {
				t.Fatal(err)
			}
			used = append(used, c)
		}
		for _, c := range used {
			p.put(c)
		}
		kept := int64(0)
		for _, c := range p.free {
			rows, err := c.query("pragma cache_size")
			if err != nil {
				t.Fatal(err)
			}
			kept -= rows[0][0].(int64) << 10
		}
		if kept > cacheLimit || kept < cacheLimit*99/100 {
			t.Errorf("%d connections keep up to %d bytes, want %d", len(p.free), kept, cacheLimit)
		}
	}
}

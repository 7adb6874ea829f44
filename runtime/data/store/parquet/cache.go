package parquet

import (
	"fmt"
	"io/fs"
	"sync"
	"unsafe"
)

const keep = 1 << 30

type cache[T any] struct {
	mu     sync.Mutex
	kept   map[int]*decoded[T]
	bytes  int64 // of those kept
	uses   int64 // how often get was called
	closed bool
}

// decoded is a row group that is decoded or being decoded.
type decoded[T any] struct {
	done  chan struct{} // closed when rows and err are set
	rows  []T
	err   error
	bytes int64
	// number of the last use
	used int64
}

// get returns the rows of group k. Only one goroutine decodes a group; others wait for it.
func (c *cache[T]) get(k int, g *group[T]) ([]T, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, fmt.Errorf("the table is closed: %w", fs.ErrClosed)
	}
	c.uses++
	d, found := c.kept[k]
	if !found {
		d = &decoded[T]{done: make(chan struct{}), bytes: max(g.bytes, g.rows.NumRows()*int64(unsafe.Sizeof(*new(T))))}
		c.add(k, d)
	}
	d.used = c.uses
	c.mu.Unlock()
	if found {
		<-d.done
		return d.rows, d.err
	}
	if d.rows, d.err = g.decode(); d.err != nil {
		d.err = fmt.Errorf("%s: %w", g.name, d.err)
		c.mu.Lock()
		c.remove(k, d)
		c.mu.Unlock()
	}
	close(d.done)
	return d.rows, d.err
}

// add adds d, the rows of group k. It first removes the least recently used groups until the group
// fits.
func (c *cache[T]) add(k int, d *decoded[T]) {
	for len(c.kept) > 0 && c.bytes > keep-d.bytes {
		oldest, first := -1, int64(0)
		for i, other := range c.kept {
			if oldest < 0 || other.used < first {
				oldest, first = i, other.used
			}
		}
		c.remove(oldest, c.kept[oldest])
	}
	if c.kept == nil {
		c.kept = map[int]*decoded[T]{}
	}
	c.kept[k] = d
	c.bytes += d.bytes
}

// remove removes group k if it is still d.
func (c *cache[T]) remove(k int, d *decoded[T]) {
	if c.kept[k] == d {
		delete(c.kept, k)
		c.bytes -= d.bytes
	}
}

func (c *cache[T]) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.kept, c.bytes = true, nil, 0
}

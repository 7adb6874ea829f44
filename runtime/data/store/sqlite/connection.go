package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// addressOf returns the URI of a file for SQLite. Its settings make files from anyone safe:
// functions and virtual tables in a schema do not run, and text in double quotes is always a name.
// mode is "ro" to read, or "rwc" to write and create.
func addressOf(path, mode string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	whole = filepath.ToSlash(whole)
	if !strings.HasPrefix(whole, "/") {
		whole = "/" + whole // a drive of Windows
	}
	query := url.Values{
		"mode":          {mode},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_busy_timeout": {"5000"}, // milliseconds
		"_pragma":       {"trusted_schema(0)", "cell_size_check(1)", "cache_size(-16384)"},
	}
	return (&url.URL{Scheme: "file", Path: whole, RawQuery: query.Encode()}).String(), nil
}

// cacheLimit is how many bytes of the file's pages the connections of a pool keep in memory
// together. Rows of pages in memory are read twice as fast. SQLite could also map the file into
// memory, but the process would die if another process cut the file short.
const cacheLimit = 512 << 20

// pool holds connections to an SQLite file. Only one goroutine may use a connection at a time.
type pool struct {
	address string
	// the query of a page of rows; "" until the table is known
	read   string
	mu     sync.Mutex
	free   []*connection
	opened int // number of connections, free or in use
	closed bool
}

// get returns a free connection, or opens one. A connection sees one snapshot of the file until the
// connection is closed.
func (p *pool) get() (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if last := len(p.free) - 1; last >= 0 {
		c := p.free[last]
		p.free = p.free[:last]
		return c, nil
	}
	c, err := connect(p.address)
	if err != nil {
		return nil, err
	}
	c.pool = p
	p.opened++
	err = c.each("begin", nil) // holds the lock that the first query takes
	if err == nil {
		err = c.limitCache(p.share())
	}
	if err != nil {
		p.drop(c)
		return nil, err
	}
	return c, nil
}

// share returns how many bytes of pages a connection may keep.
func (p *pool) share() int { return cacheLimit / p.opened }

// put makes c free. All connections are in use when one more is opened, so that each of them comes
// here before it stays free, and gets its share.
func (p *pool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.limitCache(p.share()) != nil {
		p.drop(c)
		return
	}
	p.free = append(p.free, c)
}

func (p *pool) drop(c *connection) {
	c.Close()
	p.opened--
}

// Close closes the free connections. A connection in use is closed when it is put back.
func (p *pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var err error
	for _, c := range p.free {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	p.free = nil
	return err
}

// connection is a connection to a file, with buffers for reading a page.
type connection struct {
	driver.Conn
	pool      *pool
	cache     int         // how many bytes of pages it may keep; 0 until limitCache
	pages     driver.Stmt // reads a page of rows; nil until it is needed
	wanted    [page]wanted
	arguments [page]driver.NamedValue
	row       []driver.Value
}

func connect(address string) (*connection, error) {
	conn, err := new(sqlite.Driver).Open(address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn}
	for i := range c.arguments {
		c.arguments[i].Ordinal = i + 1
	}
	return c, nil
}

// limitCache sets how many bytes of pages c may keep, in KiB rounded down. It frees the memory of
// pages beyond them.
func (c *connection) limitCache(bytes int) error {
	if c.cache == bytes {
		return nil
	}
	if err := c.each(fmt.Sprintf("pragma cache_size(-%d)", max(1, bytes>>10)), nil); err != nil {
		return err
	}
	c.cache = bytes
	return nil
}

// each runs a statement and calls f for each row of its result. f must not keep the row. f may be
// nil.
func (c *connection) each(statement string, f func(row []driver.Value) error, arguments ...driver.Value) error {
	s, err := c.Prepare(statement)
	if err != nil {
		return err
	}
	defer s.Close()
	named := make([]driver.NamedValue, len(arguments))
	for i, a := range arguments {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), named)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case f != nil:
			if err := f(row); err != nil {
				return err
			}
		}
	}
}

func (c *connection) query(statement string, arguments ...driver.Value) (rows [][]driver.Value, err error) {
	err = c.each(statement, func(row []driver.Value) error {
		rows = append(rows, append([]driver.Value(nil), row...))
		return nil
	}, arguments...)
	return rows, err
}

// readRows runs the query of a page with c.arguments.
func (c *connection) readRows() (driver.Rows, error) {
	if c.pages == nil {
		s, err := c.Prepare(c.pool.read)
		if err != nil {
			return nil, err
		}
		c.pages = s
	}
	rows, err := c.pages.(driver.StmtQueryContext).QueryContext(context.Background(), c.arguments[:])
	if err == nil && c.row == nil {
		c.row = make([]driver.Value, len(rows.Columns()))
	}
	return rows, err
}

// Close closes the connection and its statement.
func (c *connection) Close() error {
	if c.pages != nil {
		c.pages.Close()
	}
	return c.Conn.Close()
}

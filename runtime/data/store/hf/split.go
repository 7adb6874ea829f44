package hf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/parquet"
	"github.com/burngen/burngen/runtime/rt"
)

// File is a picture or a sound in a column: its bytes, and the name that its file had.
type File struct {
	Bytes []byte `data:"bytes,optional"`
	Path  string `data:"path,optional"`
}

// Split is a data set of the items of a split; see [Open]. Close it after use.
type Split[T any] struct {
	folder *folder
	table  *parquet.Table[T] // nil if the items are in rows
	rows   []T
	closed atomic.Bool
}

// Open opens a split of a data set, such as "train". dir is one of these: the folder of the data set;
// its folder in the hub's cache, such as datasets--owner--name; or a snapshot in that folder.
//
// README.md says which files belong to the split. Open uses the default configuration or, if there is no
// default, the only one. If README.md does not list files, the names of files and folders decide, by the
// rules of Python's datasets. Shards such as data/train-00000-of-00002.parquet have the name of the
// split. If there are no shards, words such as train, valid, dev and test decide. They are looked for in
// the names of folders and, if no folder has one, in the names of files. If no file has one either, all
// files are the split train. If the files have several formats, only the files of the most frequent
// format are read.
//
// [data.Columns] says which columns become which fields of T. A picture or a sound is a [File]. Parquet
// files are read as [parquet.Open] says. JSON lines, JSON arrays and CSV are read into memory at once;
// they may be compressed with gzip. The Arrow files in the cache of Python's datasets are not read.
//
// Open returns an error if the data set has no such split, or a file cannot be read.
func Open[T any](dir, split string) (*Split[T], error) { return OpenConfig[T](dir, "", split) }

// OpenConfig is [Open] for the configuration called config. If config is empty, it is the same as
// Open.
func OpenConfig[T any](dir, config, split string) (*Split[T], error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("hf: %w", err)
	}
	s := &Split[T]{folder: f}
	if err := s.open(config, split); err != nil {
		f.root.Close()
		return nil, fmt.Errorf("hf: %s: %w", dir, err)
	}
	return s, nil
}

func (s *Split[T]) open(config, name string) error {
	list, err := readCard(s.folder)
	if err != nil {
		return err
	}
	c, err := choose(list, config)
	if err != nil {
		return err
	}
	all := s.folder.in(c.dir)
	splits := c.splits
	if splits == nil {
		known, f := commonest(all)
		if f == none {
			return errors.New("no files of Parquet, JSON or CSV")
		}
		if splits, err = layout(known); err != nil {
			return err
		}
	}
	var names []string
	for _, sp := range splits {
		if sp.name == name {
			return s.read(all, sp, c)
		}
		names = append(names, fmt.Sprintf("%q", sp.name))
	}
	return fmt.Errorf("no split %q: there is %s", name, strings.Join(names, ", "))
}

func (s *Split[T]) read(all []string, sp split, c configuration) (err error) {
	files := sp.patterns
	if c.splits != nil {
		if files, err = matching(all, sp.patterns); err != nil {
			return err
		}
	}
	files, f := commonest(files)
	if f == none {
		return fmt.Errorf("split %q: no files of Parquet, JSON or CSV match %s", sp.name, strings.Join(sp.patterns, ", "))
	}
	for i := range files {
		files[i] = strings.TrimPrefix(path.Join("/", c.dir, files[i]), "/")
	}
	if f == parquetFile {
		s.table, err = parquet.OpenFS[T](s.folder.fsys, files...)
		return err
	}
	for _, name := range files {
		rows, err := readText[T](s.folder.fsys, name, f, c.comma)
		if err != nil {
			return err
		}
		if err := rt.CheckSize[T](len(s.rows) + len(rows)); err != nil {
			return err
		}
		s.rows = append(s.rows, rows...)
	}
	return nil
}

// Len returns the number of items.
func (s *Split[T]) Len() int {
	if s.table != nil {
		return s.table.Len()
	}
	return len(s.rows)
}

// Block returns the number of rows in the largest row group of Parquet files, and 1 for other
// files.
func (s *Split[T]) Block() int {
	if s.table != nil {
		return s.table.Block()
	}
	return 1
}

// At returns an item. It returns an error if a file is damaged, an item does not fit T, or the split has
// been closed.
func (s *Split[T]) At(i int) (T, error) {
	var x [1]T
	if err := s.Many(x[:], []int{i}); err != nil {
		return *new(T), err
	}
	return x[0], nil
}

// Many implements [data.ManyReader]. It returns the errors of [Split.At].
func (s *Split[T]) Many(dst []T, at []int) error {
	if s.closed.Load() {
		return fmt.Errorf("the split is closed: %w", fs.ErrClosed)
	}
	if s.table != nil {
		return s.table.Many(dst, at)
	}
	if len(dst) != len(at) {
		return fmt.Errorf("room for %d items: %d indices", len(dst), len(at))
	}
	for k, i := range at {
		if i < 0 || i >= len(s.rows) {
			return fmt.Errorf("index %d: there are %d items", i, len(s.rows))
		}
		dst[k] = s.rows[i]
	}
	return nil
}

// Close closes the files. Items cannot be read afterwards.
func (s *Split[T]) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	var err error
	if s.table != nil {
		err = s.table.Close()
	}
	return errors.Join(err, s.folder.root.Close())
}

var _ interface {
	data.Dataset[int]
	data.ManyReader[int]
	data.Blocked
	io.Closer
} = (*Split[int])(nil)

package parquet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/burngen/burngen/runtime/data"
)

// Table is a data set of the rows of Parquet files; see [Open]. Close it after use.
type Table[T any] struct {
	files  []fs.File
	groups []group[T]
	begins []int // index of the first row of each group, and the number of all rows
	block  int
	cache  cache[T]
}

type group[T any] struct {
	name string // of the file
	// number of rows before the group in the file
	before int64
	plan   *plan[T]
	rows   parquet.RowGroup
	// size in memory, as the file declares it
	bytes int64
}

// Open opens Parquet files with the same columns, such as the shards of a data set. Items are the rows
// of the first file, then of the second one, and so on. A file has a column for each of T's
// [data.Columns]; other columns are not read. Columns fit these fields:
//
//   - BOOLEAN: a bool.
//   - INT32 and INT64: an integer, or a float, to which the number is rounded. Dates and times are the
//     integers that the file has.
//   - FLOAT and DOUBLE: a float, to which the number is rounded.
//   - BYTE_ARRAY: a string, or a slice or an array of bytes.
//   - FIXED_LEN_BYTE_ARRAY: a slice or an array of bytes.
//   - A group: a struct, whose fields are the columns of the group.
//   - A list: a slice, or an array of the list's length.
//
// A field or an element may be a pointer. A null element of a list is a nil pointer; it is an error if
// the elements are not pointers. A null column is a missing value; it is an error unless the field is
// optional. DECIMAL, INT96 and maps are not read.
//
// To read an item, its row group is decoded. Groups that were used last are kept, up to 1 GiB in
// total, but at least one. So order matters: read items in order, or in the order of a [data.Loader],
// which uses [Table.Block]. For other orders use [data.Stored].
//
// Open reads the ends of the files. It returns an error if there are no files, one is damaged, or a
// column is missing or does not fit.
func Open[T any](files ...string) (*Table[T], error) {
	return open[T](func(name string) (fs.File, error) { return os.Open(name) }, files)
}

// OpenFS is [Open] for files of a file system. The files must implement [io.ReaderAt].
func OpenFS[T any](fsys fs.FS, files ...string) (*Table[T], error) {
	if fsys == nil {
		return nil, errors.New("parquet: no file system")
	}
	return open[T](fsys.Open, files)
}

func open[T any](openFile func(name string) (fs.File, error), files []string) (*Table[T], error) {
	t := &Table[T]{begins: []int{0}, block: 1}
	if len(files) == 0 {
		return nil, errors.New("parquet: no files")
	}
	for _, name := range files {
		f, err := openFile(name)
		if err == nil {
			t.files = append(t.files, f)
			err = t.add(name, f)
		}
		if err != nil {
			t.Close()
			if _, named := errors.AsType[*fs.PathError](err); !named {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return nil, fmt.Errorf("parquet: %w", err)
		}
	}
	return t, nil
}

func (t *Table[T]) add(name string, f fs.File) (err error) {
	defer rescue(&err)
	file, err := openParquet(f)
	if err != nil {
		return err
	}
	p, err := newPlan[T](file.Root())
	if err != nil {
		return err
	}
	before := int64(0)
	for k, rows := range file.RowGroups() {
		n, first := rows.NumRows(), t.begins[len(t.begins)-1]
		if n < 0 || n > int64(math.MaxInt-first) {
			return fmt.Errorf("row group %d has %d rows", k, n)
		}
		if n == 0 {
			continue
		}
		t.groups = append(t.groups, group[T]{name, before, p, rows, file.Metadata().RowGroups[k].TotalByteSize})
		t.begins = append(t.begins, first+int(n))
		t.block = max(t.block, int(n))
		before += n
	}
	return nil
}

// openParquet opens a file and reads its footer.
func openParquet(f fs.File) (*parquet.File, error) {
	r, ok := f.(io.ReaderAt)
	if !ok {
		return nil, errors.New("the file system does not read at offsets")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	var end [8]byte
	if size < 12 {
		return nil, fmt.Errorf("%d bytes are not a Parquet file", size)
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, err
	}
	if n := int64(end[0]) | int64(end[1])<<8 | int64(end[2])<<16 | int64(end[3])<<24; n > size-12 {
		return nil, fmt.Errorf("the footer has %d bytes, and the file %d", n, size)
	}
	return parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// rescue turns a panic into an error. The library panics on some damaged files.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged: %v", p)
	}
}

// Len returns the number of rows of all files.
func (t *Table[T]) Len() int { return t.begins[len(t.begins)-1] }

// Block returns the number of rows in the largest row group.
func (t *Table[T]) Block() int { return t.block }

// At reads an item; see [Open]. It returns an error if its row group is damaged or has a value that
// does not fit T, or the table has been closed.
func (t *Table[T]) At(i int) (T, error) {
	var x [1]T
	if err := t.Many(x[:], []int{i}); err != nil {
		return *new(T), err
	}
	return x[0], nil
}

// Many reads item at[i] into dst[i] for each i, one row group after the other. It returns an error
// if a row group is damaged or has a value that does not fit T, or the table has been closed.
func (t *Table[T]) Many(dst []T, at []int) error {
	if len(dst) != len(at) {
		return fmt.Errorf("room for %d items: %d indices", len(dst), len(at))
	}
	order := make([]place, len(at))
	for k, i := range at {
		if i < 0 || i >= t.Len() {
			return fmt.Errorf("index %d: there are %d items", i, t.Len())
		}
		g, found := slices.BinarySearch(t.begins, i)
		if !found {
			g--
		}
		order[k] = place{g, k}
	}
	slices.SortFunc(order, func(a, b place) int { return a.group - b.group })
	var rows []T
	last := -1
	for _, p := range order {
		if p.group != last {
			var err error
			if rows, err = t.cache.get(p.group, &t.groups[p.group]); err != nil {
				return err
			}
			last = p.group
		}
		dst[p.item] = rows[at[p.item]-t.begins[p.group]]
	}
	return nil
}

type place struct{ group, item int }

// Close closes the files. Items cannot be read afterwards.
func (t *Table[T]) Close() error {
	t.cache.close()
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	t.files = nil
	return errors.Join(errs...)
}

var _ interface {
	data.Dataset[int]
	data.ManyReader[int]
	data.Blocked
	io.Closer
} = (*Table[int])(nil)

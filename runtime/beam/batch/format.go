package batch

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/beam/infer"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// format is a kind of files.
type format struct {
	// extensions that name files of this kind; files that are written have the first
	extensions []string
	// fits returns an error if items of these inputs cannot be read, or items of these outputs not written.
	fits func(l *infer.Loaded) error
	// scan reads a whole file of `size` bytes. It returns the number of items, and where every item begins whose
	// index is a multiple of `step`.
	scan func(r io.Reader, size int64, step int) (items int, marks []mark, err error)
	// open returns a function that reads the next item of the shard s of the file f.
	open func(f io.ReaderAt, s Shard, l *infer.Loaded) (next func() (infer.Item, error), err error)
	// outputs returns what is added to the name of a shard to name its files.
	outputs func(l *infer.Loaded) ([]string, error)
	// write returns a function that writes the results of one item, to a file for each of the outputs. n is the
	// number of items that will be written.
	write func(w []io.Writer, n int, l *infer.Loaded) func(infer.Item) error
}

// mark is where an item begins: its offset in the file in bytes, and its line, counted from 1.
type mark struct {
	offset int64
	line   int
}

var formats = []*format{&jsonl, &arrays}

// formatOf returns the format of a file by its name.
func formatOf(path string) (*format, error) {
	extension := strings.ToLower(filepath.Ext(path))
	var known []string
	for _, f := range formats {
		if slices.Contains(f.extensions, extension) {
			return f, nil
		}
		known = append(known, f.extensions...)
	}
	return nil, fmt.Errorf("%s: unknown kind of file, want %s", path, strings.Join(known, ", "))
}

// extents returns the extents of an item of p. An extent is -1 if it depends on the item.
func extents(p *untyped.Port, l *infer.Loaded) []int {
	if l.Batched() {
		return p.Extents[1:]
	}
	return p.Extents
}

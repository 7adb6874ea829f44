package text

import "fmt"

// Files are the contents of files, as a data set: an item for each file.
type Files struct{ paths []string }

// OpenFiles returns the contents of files, in the order of paths. A file is read when its item is
// asked for.
func OpenFiles(paths ...string) *Files { return &Files{append([]string(nil), paths...)} }

// Len returns the number of files.
func (f *Files) Len() int { return len(f.paths) }

// At returns the contents of a file. It may be called by several goroutines at a time. It returns an
// error if there is no such file, it cannot be read, or it has more than 512 MiB.
func (f *Files) At(i int) (string, error) {
	if i < 0 || i >= len(f.paths) {
		return "", fmt.Errorf("file %d of %d", i, len(f.paths))
	}
	data, err := readFile(f.paths[i])
	return string(data), err
}

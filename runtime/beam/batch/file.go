package batch

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// temporary ends the names of files that are not whole.
const temporary = ".partial"

// writeFile writes a file under a temporary name, and gives it its name when it is whole and on the disk.
func writeFile(path string, write func(w io.Writer) error) error {
	return writeFiles([]string{path}, func(w []io.Writer) error { return write(w[0]) })
}

// writeFiles is writeFile for several files, which get their names when all of them are whole.
func writeFiles(paths []string, write func(w []io.Writer) error) (err error) {
	var files []*os.File
	var buffers []*bufio.Writer
	var writers []io.Writer
	defer func() {
		for _, f := range files {
			f.Close() // a second time, unless there was an error
			if err != nil {
				os.Remove(f.Name())
			}
		}
	}()
	for _, path := range paths {
		f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporary)
		if err != nil {
			return err
		}
		files = append(files, f)
		buffers = append(buffers, bufio.NewWriterSize(f, 1<<16))
		writers = append(writers, buffers[len(buffers)-1])
	}
	if err := write(writers); err != nil {
		return err
	}
	for i, f := range files {
		if err := errors.Join(buffers[i].Flush(), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	for i, f := range files {
		if err := os.Rename(f.Name(), paths[i]); err != nil {
			return err
		}
	}
	return nil
}

// removePartial removes what an interrupted run has left of the files of a shard.
func removePartial(s Shard) {
	for _, path := range s.Out {
		left, _ := filepath.Glob(escape(path) + ".*" + temporary)
		for _, name := range left {
			os.Remove(name)
		}
	}
}

// escape returns a pattern for filepath.Glob that matches this path only.
func escape(path string) string {
	var out []rune
	for _, c := range path {
		switch c {
		case '*', '?', '[':
			out = append(out, '[', c, ']')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

package hf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

type folder struct {
	// symbolic links must not leave it
	root  *os.Root
	fsys  fs.FS
	files []string // paths in the folder, sorted
}

// openFolder opens a data set. dir is a plain folder, a repository in a cache, or a revision of
// such a repository. A cached repository keeps its files in the folder blobs. For each revision it
// has a folder in snapshots, whose links point to the files. If dir is a repository, openFolder
// opens its revision main or its only revision.
func openFolder(dir string) (*folder, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, err
	}
	snapshots := filepath.Dir(dir)
	top, sub := dir, "."
	switch {
	case isFolder(dir, "blobs") && isFolder(dir, "snapshots"):
		revision, err := revisionOf(dir)
		if err != nil {
			return nil, err
		}
		sub = "snapshots/" + revision
	case filepath.Base(snapshots) == "snapshots" && isFolder(filepath.Dir(snapshots), "blobs"):
		top, sub = filepath.Dir(snapshots), "snapshots/"+filepath.Base(dir)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	f := &folder{root: root}
	if f.fsys, err = fs.Sub(root.FS(), sub); err == nil {
		err = f.list()
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return f, nil
}

func isFolder(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.IsDir()
}

// revisionOf returns the name of the revision to open in the cached repository dir: its revision
// main or, if there is no main, its only revision.
func revisionOf(dir string) (string, error) {
	if b, err := os.ReadFile(filepath.Join(dir, "refs", "main")); err == nil {
		revision := strings.TrimSpace(string(b))
		if !fs.ValidPath(revision) || strings.Contains(revision, "/") {
			return "", fmt.Errorf("refs/main says %.100q: the name of a revision expected", revision)
		}
		return revision, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, "snapshots"))
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("%d revisions, and none is main: open the folder of one in snapshots", len(entries))
	}
	return entries[0].Name(), nil
}

// list finds the files. It leaves out files and folders whose names begin with a dot, and folders
// whose names begin with two underscores.
func (f *folder) list() error {
	err := fs.WalkDir(f.fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		hidden := strings.HasPrefix(e.Name(), ".")
		if e.IsDir() {
			if hidden || strings.HasPrefix(e.Name(), "__") {
				return fs.SkipDir
			}
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			// A link that leaves the folder stays in the list: opening it returns an error.
			if info, err := fs.Stat(f.fsys, name); err == nil && info.IsDir() {
				return nil
			}
		}
		if !hidden {
			f.files = append(f.files, name)
		}
		return nil
	})
	slices.Sort(f.files)
	return err
}

// in returns the files below dir, a folder of the data set. The paths are relative to dir.
func (f *folder) in(dir string) []string {
	dir = path.Clean("/" + dir)
	if dir == "/" {
		return f.files
	}
	var files []string
	for _, name := range f.files {
		if rest, ok := strings.CutPrefix("/"+name, dir+"/"); ok {
			files = append(files, rest)
		}
	}
	return files
}

func (f *folder) read(name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(f.fsys, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("the file is too large")}
	}
	return fs.ReadFile(f.fsys, name)
}

package images

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// extensions lists the extensions of picture files, in lower case.
var extensions = map[string]bool{
	".bmp": true, ".gif": true, ".jpeg": true, ".jpg": true, ".png": true, ".tif": true, ".tiff": true, ".webp": true,
}

// pictureFiles returns the files below dir that have the extension of a picture, in order of their
// paths, which are relative to dir and have slashes. Hidden files and folders, whose names begin with a
// dot, are left out. A symbolic link to a file is a file; links to folders are left out. others is the
// number of files with other extensions.
func pictureFiles(dir string) (paths []string, others int, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, 0, err
	}
	err = filepath.WalkDir(dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		isFile := entry.Type().IsRegular()
		if entry.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(p)
			if err != nil {
				return err
			}
			isFile = info.Mode().IsRegular()
		}
		switch {
		case !isFile:
		case extensions[strings.ToLower(path.Ext(entry.Name()))]:
			relative, err := filepath.Rel(dir, p)
			if err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(relative))
		default:
			others++
		}
		return nil
	})
	slices.Sort(paths)
	return paths, others, err
}

// checkFolder returns an error if dir is not a folder.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}

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

var extensions = map[string]bool{
	".bmp": true, ".gif": true, ".jpeg": true, ".jpg": true, ".png": true, ".tif": true, ".tiff": true, ".webp": true,
}

// pictureFiles finds the picture files below dir, which it recognises by their extensions. The
// paths are relative to dir, sorted, and have slashes. Files and folders whose names begin with a
// dot are left out. Symbolic links to files are followed. Links to folders are left out. `others`
// is the number of files with other extensions.
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

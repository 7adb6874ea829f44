package images

import (
	"fmt"
	"image"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ClassFolder is a data set of pictures in a folder that has a subfolder for each class. Only the
// paths are in memory. When an item is asked for, its picture is read and decoded into new memory;
// see data.Cached to keep decoded pictures. The methods are safe for use by several goroutines.
type ClassFolder struct {
	dir     string
	classes []string
	paths   []string
	labels  []int
	ignored int
}

// Picture is an item of a [ClassFolder].
type Picture struct {
	Path  string // below the folder, with slashes: "cat/7.jpg"
	Label int    // the index of the class
	Image *image.RGBA
}

// Sample returns a sample of the picture.
func (p Picture) Sample() Sample { return Sample{Image: p.Image} }

// Folder returns the data set of a folder with one subfolder for each class: images/cat/7.jpg is a
// cat. Classes are in order of their names, and the pictures of a class in order of their paths.
// Pictures in folders below the folder of a class also belong to the class. Names are compared byte
// by byte.
//
// Files with the extensions .bmp, .gif, .jpeg, .jpg, .png, .tif, .tiff and .webp are pictures, in
// upper or lower case. [ClassFolder.Ignored] returns the number of other files. Hidden files and
// folders, whose names begin with a dot, are left out. The folder of a class, or a picture, may be
// a symbolic link.
//
// Folder returns an error if there is no class, or if a class has no picture. It does not open
// pictures. If a picture cannot be decoded, At returns an error that names the file.
func Folder(dir string) (*ClassFolder, error) {
	f, err := readFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("image folder: %w", err)
	}
	return f, nil
}

func readFolder(dir string) (*ClassFolder, error) {
	entries, err := os.ReadDir(dir) // in order
	if err != nil {
		return nil, err
	}
	f := &ClassFolder{dir: dir}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		class := filepath.Join(dir, entry.Name())
		info, err := os.Stat(class) // follows links
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			f.ignored++
			continue
		}
		paths, others, err := pictureFiles(class)
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("%s: no pictures of this class", class)
		}
		for _, p := range paths {
			f.paths, f.labels = append(f.paths, path.Join(entry.Name(), p)), append(f.labels, len(f.classes))
		}
		f.classes, f.ignored = append(f.classes, entry.Name()), f.ignored+others
	}
	if len(f.classes) == 0 {
		return nil, fmt.Errorf("%s: no folders of classes", dir)
	}
	return f, nil
}

// Len returns the number of pictures.
func (f *ClassFolder) Len() int { return len(f.paths) }

// At returns item i. It reads and decodes the picture; see [Decode]. It returns an error if there is
// no item i, or if its file cannot be read or decoded.
func (f *ClassFolder) At(i int) (Picture, error) {
	if err := checkIndex(i, len(f.paths)); err != nil {
		return Picture{}, err
	}
	m, err := Read(filepath.Join(f.dir, filepath.FromSlash(f.paths[i])))
	if err != nil {
		return Picture{}, err
	}
	return Picture{f.paths[i], f.labels[i], m}, nil
}

// Classes returns the names of the classes.
func (f *ClassFolder) Classes() []string { return append([]string(nil), f.classes...) }

// Labels returns the class of each item, for example to compute the weights of classes. It does not
// decode pictures.
func (f *ClassFolder) Labels() []int { return append([]int(nil), f.labels...) }

// Ignored returns the number of files whose extensions are not extensions of pictures. Hidden files
// do not count.
func (f *ClassFolder) Ignored() int { return f.ignored }

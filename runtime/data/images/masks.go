package images

import (
	"fmt"
	"image"
	"path"
	"path/filepath"
	"strings"
)

// MaskFolder is a data set of pictures and their masks, which are in two folders. Only the paths are
// in memory. When an item is asked for, its picture and mask are read and decoded into new memory.
// The methods are safe for use by several goroutines.
type MaskFolder struct {
	pictures, masks string
	pairs           [][2]string // paths below the two folders
	unpaired        int
}

// Masked is an item of a [MaskFolder].
type Masked struct {
	Path     string // of the picture below its folder, with slashes
	MaskPath string // of the mask below its folder
	Image    *image.RGBA
	Mask     *image.Gray // the class of each pixel
}

// Sample returns a sample of the picture and the mask.
func (m Masked) Sample() Sample { return Sample{Image: m.Image, Mask: m.Mask} }

// Masks returns the data set of the pictures in one folder and their masks in another:
// pictures/a/7.jpg belongs to masks/a/7.png. The paths below the two folders are equal except for
// the extensions. Items are in order of the pictures' paths. [DecodeMask] says which files are
// masks, and [Folder] which files are pictures.
//
// Pictures without a mask are left out; [MaskFolder.Unpaired] returns their number. Masks returns
// an error if there is no pair, if a mask has no picture, or if two files of a folder differ only
// in their extensions.
func Masks(pictures, masks string) (*MaskFolder, error) {
	m, err := readMasks(pictures, masks)
	if err != nil {
		return nil, fmt.Errorf("masks: %w", err)
	}
	return m, nil
}

func readMasks(pictures, masks string) (*MaskFolder, error) {
	m := &MaskFolder{pictures: pictures, masks: masks}
	of := map[string]string{} // the path of a mask by its path without extension
	paths, err := stems(masks, of)
	if err != nil {
		return nil, err
	}
	seen := map[string]string{}
	all, err := stems(pictures, seen)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if mask, ok := of[stem(p)]; ok {
			m.pairs = append(m.pairs, [2]string{p, mask})
		} else {
			m.unpaired++
		}
	}
	for _, p := range paths {
		if _, ok := seen[stem(p)]; !ok {
			return nil, fmt.Errorf("%s: no picture in %s has this name", filepath.Join(masks, filepath.FromSlash(p)), pictures)
		}
	}
	if len(m.pairs) == 0 {
		return nil, fmt.Errorf("%s: no picture has a mask in %s", pictures, masks)
	}
	return m, nil
}

// stems returns the paths of the pictures in a folder. For each picture it also adds a key and a value
// to the map `found`: the path without its extension, and the path. It returns an error if the map
// already has the key.
func stems(dir string, found map[string]string) ([]string, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	paths, _, err := pictureFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if other, ok := found[stem(p)]; ok {
			return nil, fmt.Errorf("%s: %s and %s have the same name", dir, other, p)
		}
		found[stem(p)] = p
	}
	return paths, nil
}

// stem returns a path without its extension.
func stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

// Len returns the number of pairs.
func (m *MaskFolder) Len() int { return len(m.pairs) }

// At returns item i. It reads and decodes the picture and its mask. It returns an error if there is
// no item i, if a file cannot be read or decoded, or if the sizes differ.
func (m *MaskFolder) At(i int) (Masked, error) {
	if err := checkIndex(i, len(m.pairs)); err != nil {
		return Masked{}, err
	}
	pair := m.pairs[i]
	picture, err := Read(filepath.Join(m.pictures, filepath.FromSlash(pair[0])))
	if err != nil {
		return Masked{}, err
	}
	maskPath := filepath.Join(m.masks, filepath.FromSlash(pair[1]))
	mask, err := ReadMask(maskPath)
	if err != nil {
		return Masked{}, err
	}
	if a, b := picture.Rect.Max, mask.Rect.Max; a != b {
		return Masked{}, fmt.Errorf("%s: a mask of %d × %d pixels for a picture of %d × %d", maskPath, b.X, b.Y, a.X, a.Y)
	}
	return Masked{pair[0], pair[1], picture, mask}, nil
}

// Unpaired returns the number of pictures without a mask.
func (m *MaskFolder) Unpaired() int { return m.unpaired }

package images

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// CIFAR is the data set CIFAR-10 or CIFAR-100: colour pictures of 32 × 32 pixels. The pictures are in
// memory, 3072 bytes each. The methods are safe for use by several goroutines.
type CIFAR struct {
	items           []CIFARItem
	classes, coarse []string
}

// CIFARItem is an item of [CIFAR10] or [CIFAR100].
type CIFARItem struct {
	Pixels *[3][32][32]uint8 // red, green and blue planes, row by row from the top
	Label  int               // the class
	Coarse int               // the superclass in CIFAR-100, 0 in CIFAR-10
}

// cifar describes the binary files of a data set. A file is a list of records. A record is one or
// two label bytes, and then 3072 bytes of pixels, [3][32][32].
type cifar struct {
	name string
	// of the training and the test split
	files [2][]string
	// number of label bytes before the pixels; the last one is the class
	labels  int
	classes int
	// number of superclasses, whose label is the first byte, or 0
	coarse        int
	names, groups string
}

// CIFAR10 reads a split of the binary version of CIFAR-10 in dir. [Train] is in "data_batch_1.bin" to
// "data_batch_5.bin", and [Test] in "test_batch.bin". The names of the classes are in
// "batches.meta.txt". CIFAR10 returns an error if a file is missing or truncated, or has a label that
// is not 0 to 9.
func CIFAR10(dir string, split Split) (*CIFAR, error) {
	return readCIFAR(dir, split, cifar{
		name: "cifar-10",
		files: [2][]string{
			Train: {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
			Test:  {"test_batch.bin"},
		},
		labels: 1, classes: 10, names: "batches.meta.txt",
	})
}

// CIFAR100 reads a split of the binary version of CIFAR-100 in dir. [Train] is in "train.bin", and
// [Test] in "test.bin". The names of the classes are in "fine_label_names.txt", and the names of the
// superclasses in "coarse_label_names.txt". CIFAR100 returns an error if a file is missing or
// truncated, if it has a label that is not 0 to 99, or a superclass that is not 0 to 19.
func CIFAR100(dir string, split Split) (*CIFAR, error) {
	return readCIFAR(dir, split, cifar{
		name: "cifar-100", files: [2][]string{Train: {"train.bin"}, Test: {"test.bin"}},
		labels: 2, classes: 100, coarse: 20, names: "fine_label_names.txt", groups: "coarse_label_names.txt",
	})
}

func readCIFAR(dir string, split Split, f cifar) (*CIFAR, error) {
	c, err := f.read(dir, split)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return c, nil
}

func (f cifar) read(dir string, split Split) (*CIFAR, error) {
	if err := split.check(); err != nil {
		return nil, err
	}
	c := new(CIFAR)
	for _, name := range f.files[split] {
		path := filepath.Join(dir, name)
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		c.items, err = f.records(c.items, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var err error
	if c.classes, err = namesIn(dir, f.names, f.classes); err != nil {
		return nil, err
	}
	if c.coarse, err = namesIn(dir, f.groups, f.coarse); err != nil {
		return nil, err
	}
	return c, nil
}

// records reads a file and appends its items.
func (f cifar) records(items []CIFARItem, r io.Reader) ([]CIFARItem, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	record := make([]byte, f.labels+3*32*32)
	for n := 0; ; n++ {
		if _, err := io.ReadFull(in, record); err == io.EOF {
			return items, nil
		} else if err != nil {
			return nil, fmt.Errorf("record %d: %w", n, err)
		}
		item := CIFARItem{Pixels: new([3][32][32]uint8), Label: int(record[f.labels-1])}
		if f.coarse > 0 {
			item.Coarse = int(record[0])
		}
		if item.Label >= f.classes || f.coarse > 0 && item.Coarse >= f.coarse {
			return nil, fmt.Errorf("record %d: labels %v: below %d classes expected", n, record[:f.labels], f.classes)
		}
		copy(rt.FlatOf[uint8](item.Pixels), record[f.labels:])
		items = append(items, item)
	}
}

// namesIn returns the n names in the file `name` in dir. White space separates them. namesIn
// returns nil if n is 0 or the file does not exist.
func namesIn(dir, name string, n int) ([]string, error) {
	if n == 0 {
		return nil, nil
	}
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(text))
	if len(names) != n {
		return nil, fmt.Errorf("%s: %d names of %d classes", path, len(names), n)
	}
	return names, nil
}

// Len returns the number of pictures.
func (c *CIFAR) Len() int { return len(c.items) }

// At returns item i. It returns an error if there is no item i.
func (c *CIFAR) At(i int) (CIFARItem, error) {
	if err := checkIndex(i, len(c.items)); err != nil {
		return CIFARItem{}, err
	}
	return c.items[i], nil
}

// Classes returns the names of the classes, or nil if the file of names is missing.
func (c *CIFAR) Classes() []string { return append([]string(nil), c.classes...) }

// Superclasses returns the names of CIFAR-100's superclasses. It returns nil for CIFAR-10, and if the
// file of names is missing.
func (c *CIFAR) Superclasses() []string { return append([]string(nil), c.coarse...) }

// Image returns the picture in new memory.
func (c CIFARItem) Image() *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for y := range 32 {
		for x := range 32 {
			at := m.Pix[m.PixOffset(x, y):][:4]
			at[0], at[1], at[2], at[3] = c.Pixels[0][y][x], c.Pixels[1][y][x], c.Pixels[2][y][x], 255
		}
	}
	return m
}

// Floats returns the pixels from 0 to 1: x/255.
func (c CIFARItem) Floats() (pixels [3][32][32]float32) {
	flat := rt.FlatOf[float32](&pixels)
	for i, p := range rt.FlatOf[uint8](c.Pixels) {
		flat[i] = unit[p]
	}
	return pixels
}

func checkIndex(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("index %d: there are %d items", i, n)
	}
	return nil
}

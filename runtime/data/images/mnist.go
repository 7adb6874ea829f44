package images

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/burngen/burngen/runtime/data"
)

// Digit is an item of [MNIST].
type Digit struct {
	Pixels *[28][28]uint8 // row by row from the top; 0 is background, 255 ink
	Label  uint8          // the digit, or another class
}

// Standard returns the pixels of the digit, standardised as usual for MNIST: (x/255 -
// 0.1307)/0.3081.
func (d Digit) Standard() (pixels [28][28]float32) {
	for y, row := range d.Pixels {
		for x, p := range row {
			pixels[y][x] = (unit[p] - 0.1307) / 0.3081
		}
	}
	return pixels
}

// MNIST reads a split of the MNIST digits in dir, or of other data in the same form, such as
// Fashion-MNIST. [Train] is in "train-images-idx3-ubyte" and "train-labels-idx1-ubyte". [Test] is in
// "t10k-images-idx3-ubyte" and "t10k-labels-idx1-ubyte". The files may be compressed, with names that
// end in ".gz"; see [data.IDX]. The pixels are in memory: 784 bytes for each item. MNIST returns an
// error if a file is missing or damaged, or if the shapes do not belong together.
func MNIST(dir string, split Split) (data.Dataset[Digit], error) {
	digits, err := readMNIST(dir, split)
	if err != nil {
		return nil, fmt.Errorf("mnist: %w", err)
	}
	return data.Of(digits), nil
}

func readMNIST(dir string, split Split) ([]Digit, error) {
	if err := split.check(); err != nil {
		return nil, err
	}
	name := [...]string{Train: "train", Test: "t10k"}[split]
	pictures, labels := filepath.Join(dir, name+"-images-idx3-ubyte"), filepath.Join(dir, name+"-labels-idx1-ubyte")
	pixels, err := data.IDX[uint8](pictures)
	if err != nil {
		return nil, err
	}
	classes, err := data.IDX[uint8](labels)
	if err != nil {
		return nil, err
	}
	if len(classes.Shape) != 1 {
		return nil, fmt.Errorf("%s: labels have shape %v", labels, classes.Shape)
	}
	want := []int{classes.Shape[0], 28, 28}
	if !slices.Equal(pixels.Shape, want) {
		return nil, fmt.Errorf("%s: pictures have shape %v: %v expected for the labels of %s", pictures, pixels.Shape, want, labels)
	}
	digits := make([]Digit, want[0])
	for i := range digits {
		p := new([28][28]uint8)
		for y := range p {
			copy(p[y][:], pixels.Data[(i*28+y)*28:])
		}
		digits[i] = Digit{p, classes.Data[i]}
	}
	return digits, nil
}

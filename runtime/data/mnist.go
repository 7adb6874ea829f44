package data

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// MNIST reads the MNIST digits, or other data in the same format. images is the path of a file of n
// pictures of 28×28 bytes, usually called "t10k-images-idx3-ubyte". labels is the path of a file of
// n labels, usually called "t10k-labels-idx1-ubyte"; see [IDX]. Pixels are standardised: (x/255 -
// 0.1307)/0.3081. It returns the errors of IDX, and an error if the files have other shapes.
func MNIST(images, labels string) ([][28][28]float32, []int64, error) {
	pixels, err := IDX[uint8](images)
	if err != nil {
		return nil, nil, fmt.Errorf("mnist: %w", err)
	}
	classes, err := IDX[uint8](labels)
	if err != nil {
		return nil, nil, fmt.Errorf("mnist: %w", err)
	}
	if len(classes.Shape) != 1 {
		return nil, nil, fmt.Errorf("mnist: %s: labels have shape %v", labels, classes.Shape)
	}
	n := classes.Shape[0]
	if !slices.Equal(pixels.Shape, []int{n, 28, 28}) {
		return nil, nil, fmt.Errorf("mnist: %s: pictures have shape %v: %v expected for the labels of %s", images, pixels.Shape, []int{n, 28, 28}, labels)
	}
	var shades [256]float32
	for i := range shades {
		shades[i] = (float32(i)/255 - 0.1307) / 0.3081
	}
	x, y := make([][28][28]float32, n), make([]int64, n)
	flat := rt.Flat[float32](x)
	for i, p := range pixels.Data {
		flat[i] = shades[p]
	}
	for i, c := range classes.Data {
		y[i] = int64(c)
	}
	return x, y, nil
}

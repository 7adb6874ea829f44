// Package drawn draws digits in the place of MNIST's.
package drawn

import (
	"math/rand/v2"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
)

// Digit draws digit number i of a sequence that is always the same, and returns its label. Ten digits in a row have
// the same label. The image is standardised with the mean and standard deviation of MNIST.
func Digit(image *[28][28]float32, i int) (label int64, err error) {
	h := hand.New(rand.New(rand.NewPCG(1, uint64(i))))
	h.Size = 40
	digit := i / 10 % 10
	if err := fit.Digit(image, h.Draw(rune('0'+digit), i)); err != nil {
		return 0, err
	}
	for y := range image {
		for x, ink := range image[y] {
			image[y][x] = (ink - 0.1307) / 0.3081
		}
	}
	return int64(digit), nil
}

package main

import (
	"math/rand/v2"
	"path/filepath"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/data"
)

// digits returns images of digits and their labels: MNIST's test set if folder is given, otherwise
// drawn digits.
func digits(folder string) ([]cnn.Image, []int64, error) {
	if folder == "" {
		return draw(2000)
	}
	return data.MNIST(filepath.Join(folder, "t10k-images-idx3-ubyte"), filepath.Join(folder, "t10k-labels-idx1-ubyte"))
}

// set holds images and the digits that they show.
type set = data.Set[cnn.Image, int64]

// split takes every tenth image out of the training set.
func split(images []cnn.Image, labels []int64) (training, rest set) {
	for i := range images {
		s := &training
		if i%10 == 9 {
			s = &rest
		}
		s.X, s.Y = append(s.X, images[i]), append(s.Y, labels[i])
	}
	return training, rest
}

// draw returns n drawn digits, standardised like MNIST's.
func draw(n int) ([]cnn.Image, []int64, error) {
	images, labels := make([]cnn.Image, n), make([]int64, n)
	for i := range images {
		h := hand.New(rand.New(rand.NewPCG(1, uint64(i))))
		h.Size = 40
		digit := i / 10 % 10
		labels[i] = int64(digit)
		if err := fit.Digit(&images[i], h.Draw(rune('0'+digit), i)); err != nil {
			return nil, nil, err
		}
		for y := range images[i] {
			for x, ink := range images[i][y] {
				images[i][y][x] = (ink - 0.1307) / 0.3081
			}
		}
	}
	return images, labels, nil
}

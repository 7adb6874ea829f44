package main

import (
	"math/rand/v2"
	"path/filepath"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/data"
)

// digits returns images of digits and what they show: those of MNIST's test set in a
// folder, drawn ones without a folder.
func digits(folder string) ([]cnn.Image, []int64, error) {
	if folder == "" {
		return draw(2000)
	}
	return data.MNIST(filepath.Join(folder, "t10k-images-idx3-ubyte"), filepath.Join(folder, "t10k-labels-idx1-ubyte"))
}

// draw returns n drawn digits, standardised as MNIST's are.
func draw(n int) ([]cnn.Image, []int64, error) {
	images, labels := make([]cnn.Image, n), make([]int64, n)
	for i := range images {
		h := hand.New(rand.New(rand.NewPCG(1, uint64(i))))
		h.Size = 40
		labels[i] = int64(i % 10)
		if err := fit.Digit(&images[i], h.Draw(rune('0'+i%10), i/10)); err != nil {
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

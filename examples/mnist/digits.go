package main

import (
	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/examples/mnist/drawn"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/images"
)

// digits returns images of digits and their labels: MNIST's test set in a folder, or drawn digits
// if folder is "".
func digits(folder string) ([]cnn.Image, []int64, error) {
	if folder == "" {
		return draw(2000)
	}
	set, err := images.MNIST(folder, images.Test)
	if err != nil {
		return nil, nil, err
	}
	x, y := make([]cnn.Image, set.Len()), make([]int64, set.Len())
	for i := range x {
		d, err := set.At(i)
		if err != nil {
			return nil, nil, err
		}
		x[i], y[i] = d.Standard(), int64(d.Label)
	}
	return x, y, nil
}

// digit is an image and its label.
type digit = data.Pair[cnn.Image, int64]

var copied = data.Pairs(data.Copy[cnn.Image, int64])

// split moves every tenth digit from the training set to rest.
func split(images []cnn.Image, labels []int64) (training, rest data.Dataset[digit]) {
	all := data.Zipped(data.Of(images), data.Of(labels))
	var indices [2][]int
	for i := range images {
		k := 0
		if i%10 == 9 {
			k = 1
		}
		indices[k] = append(indices[k], i)
	}
	return data.Picked(all, indices[0]), data.Picked(all, indices[1])
}

// draw returns the first n digits of package drawn, and their labels.
func draw(n int) ([]cnn.Image, []int64, error) {
	images, labels := make([]cnn.Image, n), make([]int64, n)
	for i := range images {
		var err error
		if labels[i], err = drawn.Digit(&images[i], i); err != nil {
			return nil, nil, err
		}
	}
	return images, labels, nil
}

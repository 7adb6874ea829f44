// Pytorch reads handwritten digits by a network whose weights PyTorch saved.
//
//	go run ./examples/pytorch [-weights FILE] PICTURE…
//
// The package in digits/ has the weights of digits.pt. With -weights it takes the weights in FILE instead. FILE is from
// torch.save or safetensors, and has the weights of the same network.
package main

import (
	"flag"
	"fmt"
	"image"
	_ "image/png"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/pytorch/digits"
	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ./internal/build
//go:generate go run ../../cmd/burngen ./model -weights digits.pt -o ./digits

func main() {
	log.SetFlags(0)
	log.SetPrefix("pytorch: ")
	weights := flag.String("weights", "", "takes the weights in `FILE`")
	flag.Parse()
	if err := read(os.Stdout, *weights, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

// read prints the digit of each picture.
func read(w io.Writer, weights string, pictures []string) error {
	m, err := load(weights)
	if err != nil {
		return err
	}
	for _, path := range pictures {
		var d [1]digits.Image
		if err := fitFile(&d[0], path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		logits, err := m.Forward(d[:])
		if err != nil {
			return err
		}
		best := 0
		for digit, score := range logits[0] {
			if score > logits[0][best] {
				best = digit
			}
		}
		fmt.Fprintf(w, "%s: %d\n", filepath.Base(path), best)
	}
	return nil
}

// load returns the model with the weights in a file, or with the package's weights if path is "".
func load(path string) (*digits.Model, error) {
	if path == "" {
		return digits.Load()
	}
	open := func() (*rt.Weights, error) { return pytorch.Open(path) }
	if filepath.Ext(path) == ".safetensors" {
		open = func() (*rt.Weights, error) { return rt.OpenWeightsFile(path), nil }
	}
	w, err := open()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return digits.LoadFrom(w)
}

// fitFile reads a picture and fits it to the network's input.
func fitFile(d *digits.Image, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	picture, _, err := image.Decode(f)
	if err != nil {
		return err
	}
	return fit.Digit(&d[0], picture)
}

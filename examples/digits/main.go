// Digits reads handwritten digits.
//
//	go run ./examples/digits [-target auto|cuda|vulkan|cpu] [PICTURE.png ...]
//
// It prints the digit in each picture and its probability. Without arguments it reads the pictures
// in the program. The program is one binary that also holds the weights. It computes on the first of
// cuda, vulkan and cpu that the machine has, or on the target that -target names.
package main

import (
	"embed"
	"flag"
	"fmt"
	"image"
	_ "image/png"
	"io/fs"
	"log"
	"math"
	"os"
	"path"

	"github.com/burngen/burngen/examples/digits/fit"
	model "github.com/burngen/burngen/examples/digits/model/auto"
)

//go:generate go run ../../cmd/burngen digits.onnx -o ./model -target auto

//go:embed drawn/*.png
var drawn embed.FS

func main() {
	log.SetFlags(0)
	log.SetPrefix("digits: ")
	target := flag.String("target", "auto", "computes on `TARGET`: cuda, vulkan or cpu; auto takes the first that the machine has")
	flag.Parse()
	if *target != "auto" {
		os.Setenv("BURNGEN_TARGET", *target)
	}
	names, open := flag.Args(), func(name string) (fs.File, error) { return os.Open(name) }
	if len(names) == 0 {
		names, _ = fs.Glob(drawn, "drawn/*.png")
		open = drawn.Open
	}
	answers, err := read(names, open)
	if err != nil {
		log.Fatal(err)
	}
	if err := show(os.Stdout, answers); err != nil {
		log.Fatal(err)
	}
}

type answer struct {
	name          string
	image         model.Image // as the model gets it
	digit         int
	probabilities [10]float64
}

// read recognises pictures in one batch.
func read(names []string, open func(name string) (fs.File, error)) ([]answer, error) {
	images := make([]model.Image, len(names))
	for i, name := range names {
		picture, err := decode(name, open)
		if err != nil {
			return nil, err
		}
		if err := fit.Digit(&images[i][0], picture); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	m, err := model.Load()
	if err != nil {
		return nil, err
	}
	logits, err := m.Forward(images)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(names))
	for i, name := range names {
		digit, p := softmax(logits[i])
		answers[i] = answer{path.Base(name), images[i], digit, p}
	}
	return answers, nil
}

func decode(name string, open func(name string) (fs.File, error)) (image.Image, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	picture, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return picture, nil
}

// softmax returns the digit with the largest logit, and the probabilities of all digits.
func softmax(logits model.Logits) (digit int, p [10]float64) {
	for i, v := range logits {
		if v > logits[digit] {
			digit = i
		}
	}
	var sum float64
	for i, v := range logits {
		p[i] = math.Exp(float64(v - logits[digit]))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return digit, p
}

// Draw writes the pictures in ../drawn: digits in varied handwriting, pens, colours and sizes. Each
// file is named after the digit it shows.
//
//	go run ./draw [-n 2] [-seed 1] [-o drawn]
package main

import (
	"flag"
	"fmt"
	"image"
	"image/png"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/examples/digits/hand"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("draw: ")
	n := flag.Int("n", 2, "pictures of each digit")
	seed := flag.Uint64("seed", 1, "seed of the random hands")
	dir := flag.String("o", "drawn", "folder to write to")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		log.Fatal(err)
	}
	for digit := range 10 {
		for i := range *n {
			rng := rand.New(rand.NewPCG(*seed, uint64(10*i+digit)))
			name := filepath.Join(*dir, fmt.Sprintf("%d-%d.png", digit, i+1))
			if err := write(name, hand.New(rng).Draw(rune('0'+digit), i)); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func write(name string, m image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(f, m); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

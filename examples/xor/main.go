// Xor trains a perceptron on exclusive or, saves it, and loads it again.
//
//	go run ./examples/xor [-epochs 50] [-rate 0.001] [-early] [-o FOLDER]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -o ./xor

// The four examples of exclusive or.
var (
	bits    = []xor.Bits{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	classes = []int64{0, 1, 1, 0}
)

type plan struct {
	epochs, batch int
	rate          float64
	seed          uint64
	early         bool // stop when all four are right
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("xor: ")
	p := plan{batch: 32, seed: 42}
	flag.IntVar(&p.epochs, "epochs", 50, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 1e-3, "learns at this `RATE`")
	flag.BoolVar(&p.early, "early", false, "ends as soon as all four answers are right")
	folder := flag.String("o", os.TempDir(), "saves the weights in `FOLDER`")
	flag.Parse()
	m, err := p.train(os.Stdout)
	check(err)
	predictions, err := predict(m)
	check(err)
	fmt.Println("predictions:", predictions)
	for _, dtype := range []string{"f32", "f16"} {
		path := filepath.Join(*folder, "xor."+dtype+".safetensors")
		check(save(m, path, dtype))
		again, err := load(path)
		check(err)
		predictions, err := predict(again)
		check(err)
		file, err := os.Stat(path)
		check(err)
		fmt.Printf("read from %s, %d bytes: %v\n", file.Name(), file.Size(), predictions)
	}
}

// train trains a perceptron on 200 copies of the four examples. It writes a line for every tenth
// epoch.
func (p plan) train(w io.Writer) (*xor.Model, error) {
	t, err := xor.New(p.seed).NewTrainer(xor.TrainerOptions{Batch: p.batch, Seed: p.seed})
	if err != nil {
		return nil, err
	}
	opt, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	examples := data.Repeated(data.Zipped(data.Of(bits), data.Of(classes)), 200)
	batches := data.Load(examples, data.Pairs(data.Copy[xor.Bits, int64]), data.LoaderOptions{Batch: p.batch, Shuffle: true, Seed: p.seed})
	for epoch := 1; epoch <= p.epochs; epoch++ {
		var sum float32
		for b, err := range batches.Epoch(context.Background(), epoch, 0) {
			if err != nil {
				return nil, err
			}
			loss, err := t.Step(b.X, b.Y) // forward, loss, backward: adds to the gradients
			if err != nil {
				return nil, err
			}
			if err := opt.Step(p.rate); err != nil { // changes the parameters and resets the gradients
				return nil, err
			}
			sum += loss * float32(len(b.X))
		}
		answers, err := t.Forward(bits) // the weights being trained
		if err != nil {
			return nil, err
		}
		right := 0
		for i, c := range classesOf(answers) {
			if c == classes[i] {
				right++
			}
		}
		done := p.early && right == len(classes)
		if epoch == 1 || epoch%10 == 0 || done {
			fmt.Fprintf(w, "epoch %3d  loss %.4f  accuracy %d %%\n", epoch, sum/float32(examples.Len()), 100*right/len(classes))
		}
		if done {
			break
		}
	}
	return t.Model(), nil
}

func predict(m *xor.Model) ([]int64, error) {
	logits, err := m.Forward(bits)
	return classesOf(logits), err
}

func classesOf(logits []xor.Logits) []int64 {
	out := make([]int64, len(logits))
	for i, l := range logits {
		if l[1] > l[0] {
			out[i] = 1
		}
	}
	return out
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

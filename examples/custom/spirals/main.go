// Spirals trains a network to predict on which of two spirals a point lies. Its layers are an
// operator that ONNX does not have. Two Go functions in ../fused compute the operator and its
// gradients.
//
//	go run ./examples/custom/spirals [-epochs 60] [-rate 0.005]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/custom/spirals/model"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../../cmd/burngen spirals.onnx -train -loss cross_entropy -o ./model -custom "acme.FusedMatMulAddReLU=github.com/burngen/burngen/examples/custom/fused.MatMulAddReLU: (f32[N,K], f32[K,M], f32[M]) -> f32[N,M]"

func main() {
	log.SetFlags(0)
	log.SetPrefix("spirals: ")
	epochs := flag.Int("epochs", 60, "trains `N` times on everything")
	rate := flag.Float64("rate", 5e-3, "learns at this `RATE`, and at less and less")
	flag.Parse()
	m, err := train(os.Stdout, *epochs, *rate)
	if err == nil {
		err = show(os.Stdout, m)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// train trains the network on 600 points. It writes a line for every tenth epoch.
func train(w io.Writer, epochs int, rate float64) (*model.Model, error) {
	const batch = 50
	begin, err := model.Load()
	if err != nil {
		return nil, err
	}
	t, err := begin.NewTrainer(model.TrainerOptions{Batch: batch})
	if err != nil {
		return nil, err
	}
	opt, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	points, spirals := draw(600)
	set := data.Zipped(data.Of(points), data.Of(spirals))
	batches := data.Load(set, data.Pairs(data.Copy[model.Point, int64]), data.LoaderOptions{Batch: batch, Shuffle: true, Seed: 42})
	falling := optim.Cosine(rate, 0, epochs)
	for epoch := range epochs {
		var sum float32
		for b, err := range batches.Epoch(context.Background(), epoch, 0) {
			if err != nil {
				return nil, err
			}
			r, err := t.Step(b.X, b.Y)
			if err != nil {
				return nil, err
			}
			if err := opt.Step(falling(epoch)); err != nil {
				return nil, err
			}
			sum += r.Loss * float32(len(b.X))
		}
		if epoch%10 == 9 {
			fmt.Fprintf(w, "epoch %3d  loss %.4f\n", epoch+1, sum/float32(len(points)))
		}
	}
	return t.Model(), nil
}

// draw returns n points on two interleaved spirals of one and a half turns, and the spiral of each,
// 0 or 1.
func draw(n int) ([]model.Point, []int64) {
	rng := rand.New(rand.NewPCG(1, 0))
	points, spirals := make([]model.Point, n), make([]int64, n)
	for i := range points {
		spirals[i] = int64(i % 2)
		far := math.Sqrt(rng.Float64()) // distance from the centre
		sin, cos := math.Sincos(3*math.Pi*far + math.Pi*float64(i%2))
		points[i] = model.Point{float32(far*cos + 0.02*rng.NormFloat64()), float32(far*sin + 0.02*rng.NormFloat64())}
	}
	return points, spirals
}

// show draws the predictions for the square around the spirals.
func show(w io.Writer, m *model.Model) error {
	const columns, rows = 60, 30
	points := make([]model.Point, 0, columns*rows)
	for y := range rows {
		for x := range columns {
			points = append(points, model.Point{float32(2*x+1)/columns - 1, 1 - float32(2*y+1)/rows})
		}
	}
	logits, err := m.Forward(points)
	if err != nil {
		return err
	}
	for i, l := range logits {
		mark := "·"
		if l[1] > l[0] {
			mark = "█"
		}
		if i%columns == columns-1 {
			mark += "\n"
		}
		fmt.Fprint(w, mark)
	}
	return nil
}

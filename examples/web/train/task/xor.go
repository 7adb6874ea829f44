package task

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/optim"
)

// exclusive trains a perceptron on exclusive or.
type exclusive struct {
	trainer *xor.Trainer
	adam    *optim.Adam
	rng     *rand.Rand
	bits    []xor.Bits
	classes []int64
}

func newXOR(seed uint64) (*exclusive, error) {
	const batch = 32
	t, err := xor.New(seed).NewTrainer(xor.TrainerOptions{Batch: across*across + 4, Seed: seed})
	if err != nil {
		return nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	return &exclusive{t, adam, rand.New(rand.NewPCG(seed, 0)), make([]xor.Bits, batch), make([]int64, batch)}, err
}

// Step trains on the four examples, drawn at random.
func (e *exclusive) Step() (float64, error) {
	for i := range e.bits {
		a, b := e.rng.IntN(2), e.rng.IntN(2)
		e.bits[i], e.classes[i] = xor.Bits{float32(a), float32(b)}, int64(a^b)
	}
	loss, err := e.trainer.Step(e.bits, e.classes)
	if err != nil {
		return 0, err
	}
	return float64(loss), e.adam.Step(2e-3)
}

// across is the side of the picture. The four examples are a quarter of it away from its edges.
const across = 48

// Look tests the four examples. The picture shows the probability of 1 for all pairs from -0.5 to 1.5.
func (e *exclusive) Look() (View, error) {
	points := make([]xor.Bits, 0, across*across+4)
	for y := range across {
		for x := range across {
			points = append(points, xor.Bits{2*(float32(x)+.5)/across - .5, 1.5 - 2*(float32(y)+.5)/across})
		}
	}
	points = append(points, xor.Bits{0, 0}, xor.Bits{0, 1}, xor.Bits{1, 0}, xor.Bits{1, 1})
	logits, err := e.trainer.Forward(points)
	if err != nil {
		return View{}, err
	}
	v := View{Of: 4, Picture: image.NewRGBA(image.Rect(0, 0, across, across))}
	for i, l := range logits {
		switch one := 1 / (1 + math.Exp(float64(l[0]-l[1]))); {
		case i < across*across:
			v.Picture.SetRGBA(i%across, i/across, between(color.RGBA{44, 82, 130, 255}, color.RGBA{246, 173, 85, 255}, one))
		case one > .5 == (points[i][0] != points[i][1]):
			v.Right++
		}
	}
	return v, nil
}

// between blends a and b. share is the share of b, from 0 to 1.
func between(a, b color.RGBA, share float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

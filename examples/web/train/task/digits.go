package task

import (
	"image"
	"image/color"
	"math/rand/v2"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/examples/mnist/drawn"
	"github.com/burngen/burngen/runtime/optim"
)

const (
	batch = 16
	// tested is the number of digits for tests. They are the first ones of package drawn, ten of them on ten.
	tested = 50
	// known is the number of other digits, on which the network is trained.
	known = 1000
)

// digits trains a convolutional network on drawn digits.
type digits struct {
	trainer *cnn.Trainer
	adam    *optim.Adam
	rng     *rand.Rand
	images  []cnn.Image // the digits that have been drawn so far
	labels  []int64
	test    [tested]cnn.Image
	answers [tested]int64
	x       [batch]cnn.Image
	y       [batch]int64
}

func newDigits(seed uint64) (*digits, error) {
	t, err := cnn.New(seed).NewTrainer(cnn.TrainerOptions{Batch: max(batch, tested), Seed: seed})
	if err != nil {
		return nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	d := &digits{trainer: t, adam: adam, rng: rand.New(rand.NewPCG(seed, 0))}
	for i := range d.test {
		if d.answers[i], err = drawn.Digit(&d.test[i], number(i)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// number returns the number in package drawn of digit i of this package. Any ten digits in a row are ten different ones.
func number(i int) int { return i/100*100 + i%10*10 + i/10%10 }

// Step trains on a batch. Until all digits are known, the batch has new ones.
func (d *digits) Step() (float64, error) {
	for i := range d.x {
		if len(d.images) < known {
			var image cnn.Image
			label, err := drawn.Digit(&image, number(tested+len(d.images)))
			if err != nil {
				return 0, err
			}
			d.images, d.labels = append(d.images, image), append(d.labels, label)
			d.x[i], d.y[i] = image, label
			continue
		}
		k := d.rng.IntN(known)
		d.x[i], d.y[i] = d.images[k], d.labels[k]
	}
	r, err := d.trainer.Step(d.x[:], d.y[:])
	if err != nil {
		return 0, err
	}
	return float64(r.Loss), d.adam.Step(1e-3)
}

// Look tests digits that the network is not trained on. In the picture, digits with a wrong answer are red.
func (d *digits) Look() (View, error) {
	logits, err := d.trainer.Forward(d.test[:])
	if err != nil {
		return View{}, err
	}
	const side, columns = 28, 10
	v := View{Of: tested, Picture: image.NewRGBA(image.Rect(0, 0, side*columns, side*tested/columns))}
	for i, l := range logits {
		ink := color.RGBA{226, 232, 240, 255}
		if argmax(l) == d.answers[i] {
			v.Right++
		} else {
			ink = color.RGBA{245, 101, 101, 255}
		}
		for y := range side {
			for x := range side {
				share := float64(d.test[i][y][x]*0.3081 + 0.1307)
				v.Picture.SetRGBA(i%columns*side+x, i/columns*side+y, between(color.RGBA{26, 32, 44, 255}, ink, share))
			}
		}
	}
	return v, nil
}

func argmax(l cnn.Logits) int64 {
	best := 0
	for i, v := range l {
		if v > l[best] {
			best = i
		}
	}
	return int64(best)
}

package gputrain

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"

	"program/model"
	bf16 "program/narrow/bf16"
	f16 "program/narrow/f16"
	tf32 "program/narrow/tf32"
)

// narrow is a trainer in some precision.
type narrow interface {
	Params() *rt.Params
	LossScale() float64
	State(s *rt.State)
}

// run is a training run. step makes a step on images and returns the loss.
type run struct {
	narrow
	step func(x []model.Image, y []int64) (float32, error)
}

// in returns a run of a trainer whose images are of type I.
func in[I, R any](t narrow, step func(x []I, y []int64) (R, error), loss func(R) float32) *run {
	images := make([]I, batch)
	return &run{t, func(x []model.Image, y []int64) (float32, error) {
		copy(rt.Flat[float32](images), rt.Flat[float32](x))
		r, err := step(images, y)
		return loss(r), err
	}}
}

// runs opens a run for each precision. unit is the unit roundoff.
var runs = map[string]struct {
	unit float64
	open func() (*run, error)
}{
	"f32": {0x1p-24, func() (*run, error) {
		t, err := model.New(7).NewTrainer(model.TrainerOptions{Batch: batch, Seed: 3})
		return in(t, t.Step, func(r model.LossResult) float32 { return r.Loss }), err
	}},
	"tf32": {0x1p-11, func() (*run, error) {
		t, err := tf32.New(7).NewTrainer(tf32.TrainerOptions{Batch: batch, Seed: 3})
		return in(t, t.Step, func(r tf32.LossResult) float32 { return r.Loss }), err
	}},
	"f16": {0x1p-11, func() (*run, error) {
		t, err := f16.New(7).NewTrainer(f16.TrainerOptions{Batch: batch, Seed: 3})
		return in(t, t.Step, func(r f16.LossResult) float32 { return r.Loss }), err
	}},
	"bf16": {0x1p-8, func() (*run, error) {
		t, err := bf16.New(7).NewTrainer(bf16.TrainerOptions{Batch: batch, Seed: 3})
		return in(t, t.Step, func(r bf16.LossResult) float32 { return r.Loss }), err
	}},
}

func open(t *testing.T, precision string) *run {
	t.Helper()
	r, err := runs[precision].open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// examples returns batch k.
func examples(k int) (x []model.Image, y []int64) {
	x, y = make([]model.Image, batch), make([]int64, batch)
	rt.Uniform(rt.Flat[float32](x), 0, 1, uint32(k))
	for i := range y {
		y[i] = int64(i % 4)
		for l := range 4 {
			x[i][2*int(y[i])][l]++
		}
	}
	return x, y
}

// train makes steps with an optimizer and returns the loss of each.
func (r *run) train(t *testing.T, o optim.Optimizer, from, to int) (losses []float32) {
	t.Helper()
	for k := from; k < to; k++ {
		loss, err := r.step(examples(k))
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
		if err := o.Step(0.1); err != nil {
			t.Fatal(err)
		}
	}
	return losses
}

func (r *run) momentum(t *testing.T) optim.Optimizer {
	t.Helper()
	o, err := optim.NewSGD(r.Params(), optim.SGDConfig{Momentum: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// values returns a copy of all parameters.
func (r *run) values() (all []float32) {
	for i := range r.Params().Items {
		all = append(all, r.Params().Value(i)...)
	}
	return all
}

// TestPrecisionsLearn trains in each precision. Losses are near those of f32: four products follow each other in
// each direction. The same run has the same bits.
func TestPrecisionsLearn(t *testing.T) {
	const steps = 12
	f32 := open(t, "f32")
	want := f32.train(t, f32.momentum(t), 0, steps)
	for name, c := range runs {
		r := open(t, name)
		got := r.train(t, r.momentum(t), 0, steps)
		for i := range got {
			if off := math.Abs(float64(got[i] - want[i])); !(off <= 1e-4+3*4*c.unit*math.Sqrt(8)*float64(want[0])) {
				t.Errorf("%s: the loss of step %d is %g, in f32 %g", name, i, got[i], want[i])
			}
		}
		if !(got[steps-1] < got[0]*3/4) {
			t.Errorf("%s: the loss goes from %g to %g", name, got[0], got[steps-1])
		}
		again := open(t, name)
		if losses := again.train(t, again.momentum(t), 0, steps); !slices.Equal(losses, got) || !slices.Equal(again.values(), r.values()) {
			t.Errorf("%s: a second run has other bits", name)
		}
		want := 1.0
		if name == "f16" {
			want = 1 << 16
		}
		if got := r.LossScale(); got != want {
			t.Errorf("%s: the loss scale is %g, want %g", name, got, want)
		}
	}
}

// TestOverflow trains with weights so large that scaled gradients overflow f16. Steps are skipped until the scale
// is small enough. The scale is saved and restored, also by a trainer of f32.
func TestOverflow(t *testing.T) {
	r := open(t, "f16")
	o := r.momentum(t)
	r.train(t, o, 0, 2)
	last := len(r.Params().Items) - 1
	for last > 0 && len(r.Params().Items[last].Shape) != 2 {
		last--
	}
	for i, w := range r.Params().Value(last) {
		r.Params().Value(last)[i] = 1000 * w
	}
	before, skipped := r.values(), 0
	for k := 0; slices.Equal(r.values(), before); k++ {
		if want := math.Ldexp(1, 16-k); r.LossScale() != want {
			t.Errorf("the scale is %g after %d skipped steps, want %g", r.LossScale(), k, want)
		}
		loss := r.train(t, o, 2, 3)[0]
		if !(loss > 0 && loss < 1e6) {
			t.Fatalf("the loss is %g", loss)
		}
		if skipped = k; k == 40 {
			t.Fatal("all steps are skipped")
		}
	}
	if skipped == 0 {
		t.Error("no step is skipped")
	}
	scale := math.Ldexp(1, 16-skipped)
	for _, v := range r.values() {
		if v-v != 0 {
			t.Fatal("a parameter is not finite")
		}
	}
	state := func(from, to narrow) {
		t.Helper()
		w, err := rt.CollectState(map[string]rt.Stater{"trainer": from})
		if err == nil {
			err = rt.RestoreState(w, map[string]rt.Stater{"trainer": to})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f32, other := open(t, "f32"), open(t, "f16")
	state(r, f32)
	state(f32, other)
	if r.LossScale() != scale || other.LossScale() != scale || !slices.Equal(other.values(), r.values()) {
		t.Errorf("the scales are %g, and %g when restored; want %g", r.LossScale(), other.LossScale(), scale)
	}
}

// TestBackwardIsScaled passes gradients to the second half of a pass that are too small for f16. The gradients of
// the parameters are those of f32.
func TestBackwardIsScaled(t *testing.T) {
	wide, err := model.New(7).NewTrainer(model.TrainerOptions{Batch: batch, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	half, err := f16.New(7).NewTrainer(f16.TrainerOptions{Batch: batch, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := examples(0)
	y, dWide, dHalf := make([]f16.Image, batch), make([]model.Logits, batch), make([]f16.Logits, batch)
	copy(rt.Flat[float32](y), rt.Flat[float32](x))
	for i := range dWide {
		dWide[i][i%4], dHalf[i][i%4] = 1e-8, 1e-8
	}
	if _, err = wide.TrainForward(x); err == nil {
		err = wide.Backward(dWide)
	}
	if err == nil {
		_, err = half.TrainForward(y)
	}
	if err == nil {
		err = half.Backward(dHalf)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range wide.Params().Items {
		most, off := 0.0, 0.0
		for k, want := range wide.Params().Gradient(i) {
			most, off = max(most, math.Abs(float64(want))), max(off, math.Abs(float64(half.Params().Gradient(i)[k]-want)))
		}
		if it.Name != "conv.bias" && !(off <= 4*0x1p-11*math.Sqrt(8)*most) { // the norm makes its gradient 0
			t.Errorf("gradients of %s are off by %g of %g", it.Name, off, most)
		}
	}
}

package rt

import (
	"errors"
	"math"
	"testing"
)

// line is a trainer as generated ones are: of y = a·x, whose loss is y.
type line struct {
	Trainer[lineWeights, lineChanges]
	y    [][1]float32
	x    [][1]float32
	fail error
}

type lineWeights struct{ a []float32 }

type lineChanges struct{ a []float32 }

var (
	lineStep = Method{Name: "net: Step", Symbols: []string{"N"}, Ends: []int{1}}
	lineEval = Method{Name: "net: Forward", Symbols: []string{"N"}, Each: []int64{64}}
	lineHalf = Method{Name: "net: TrainForward", Symbols: []string{"N"}, Ends: []int{1}, Backward: "net: Backward"}
)

func (t *line) Forward(x [][1]float32) (dst [][1]float32, err error) {
	call, err := EnterTraining(t, &lineEval, In("x", x))
	if err != nil {
		return dst, err
	}
	defer call.Leave(&err)
	if err := call.Results(OutGrown("dst", &t.y, len(x))); err != nil {
		return dst, err
	}
	for i := range x {
		t.y[i][0] = call.Weights.a[0] * x[i][0]
	}
	return t.y, t.fail
}

func (t *line) Step(x [][1]float32) (err error) {
	call, err := EnterTraining(t, &lineStep, In("x", x))
	if err != nil {
		return err
	}
	defer call.Leave(&err)
	call.Changes.a[0] = x[0][0]
	call.Watch.See("a", call.Changes.a)
	return t.fail
}

func (t *line) TrainForward(x [][1]float32) (dst [][1]float32, err error) {
	call, err := EnterTraining(t, &lineHalf, In("x", x))
	if err != nil {
		return dst, err
	}
	defer call.Leave(&err)
	if err := call.Results(OutGrown("dst", &t.y, len(x))); err != nil {
		return dst, err
	}
	t.x = x
	return t.y, t.fail
}

func (t *line) Backward(dy [][1]float32) (err error) {
	call, err := EnterBackward(t, &lineHalf, In("dy", dy))
	if err != nil {
		return err
	}
	defer call.Leave(&err)
	if err := call.Results(Out("result", t.y)); err != nil {
		return err
	}
	call.Changes.a[0] = dy[0][0] * t.x[0][0]
	return t.fail
}

// lineOf opens a trainer whose weight is 2.
func lineOf(t *testing.T, o TrainingOptions) *line {
	t.Helper()
	raw := NewWeights()
	Add(raw, "a", []float32{2}, 1)
	tr := &line{}
	o.Where, o.Symbol = "net: NewTrainer", "N"
	variables := func(w *lineWeights, g *lineChanges) []Variable {
		return []Variable{{Name: "a", Shape: []int{1}, Weight: &w.a, Change: &g.a}}
	}
	if err := OpenTrainer(&tr.Trainer, raw, &lineWeights{}, variables, o, &lineStep, &lineEval, &lineHalf); err != nil {
		t.Fatal(err)
	}
	return tr
}

func (t *line) gradient() float32 { return t.Params().Gradient(0)[0] }

func TestTrainer(t *testing.T) {
	tr := lineOf(t, TrainingOptions{Batch: 3})
	if cap(tr.frame.Arena) != 192 {
		t.Errorf("%d bytes for a batch of 3", cap(tr.frame.Arena))
	}
	y, err := tr.Forward([][1]float32{{5}})
	if err != nil || y[0][0] != 10 {
		t.Fatalf("got %v, error %v", y, err)
	}
	for _, want := range []float32{5, 10} { // the second step adds to the first one's gradients
		if err := tr.Step([][1]float32{{5}}); err != nil || tr.gradient() != want {
			t.Errorf("the gradient is %g, want %g; error %v", tr.gradient(), want, err)
		}
	}
	x := [][1]float32{{5}}
	if n := testing.AllocsPerRun(10, func() { tr.Step(x) }); n != 0 {
		t.Errorf("a step allocates %g times", n)
	}
	_, err = tr.Forward(make([][1]float32, 4))
	wantError(t, err, "net: Forward: batch of 4: session holds 3 at most")
	_, err = tr.Forward(tr.y)
	wantError(t, err, "net: Forward: dst overlaps an input")
}

func TestTrainerBackward(t *testing.T) {
	tr := lineOf(t, TrainingOptions{Batch: 3})
	x, dy := [][1]float32{{5}}, [][1]float32{{7}}
	const notPending = "net: Backward: the last call was not TrainForward, or it failed"
	wantError(t, tr.Backward(dy), notPending)
	forward := func() {
		t.Helper()
		if _, err := tr.TrainForward(x); err != nil {
			t.Fatal(err)
		}
	}
	forward()
	wantError(t, tr.Backward(make([][1]float32, 2)), "net: Backward: dy: 1 elements expected, got 2")
	wantError(t, tr.Backward(tr.y), "net: Backward: result overlaps an input")
	wantError(t, tr.Backward(dy), "") // what was refused has changed nothing
	if got := tr.gradient(); got != 35 {
		t.Errorf("the gradient is %g, want 35", got)
	}
	wantError(t, tr.Backward(dy), notPending)
	forward()
	if _, err := tr.Forward(x); err != nil {
		t.Fatal(err)
	}
	wantError(t, tr.Backward(dy), notPending)
	forward()
	tr.fail = errors.New("no")
	wantError(t, tr.Backward(dy), "no")
	tr.fail = nil
	wantError(t, tr.Backward(dy), notPending)
	if got := tr.gradient(); got != 35 {
		t.Errorf("after a half that failed the gradient is %g, want 35", got)
	}
}

func TestTrainerLooksForNaN(t *testing.T) {
	tr := lineOf(t, TrainingOptions{Batch: 1, CheckNaN: true})
	wantError(t, tr.Step([][1]float32{{float32(math.NaN())}}), `node "a": computed a NaN`)
	wantError(t, tr.Step([][1]float32{{1}}), "")
}

func TestTrainerThatIsNotOpen(t *testing.T) {
	for _, tr := range []*line{nil, {}} {
		if err := tr.Step(nil); err != ErrNoTrainer {
			t.Errorf("Step: %v", err)
		}
		if err := tr.Backward(nil); err != ErrNoTrainer {
			t.Errorf("Backward: %v", err)
		}
	}
	var tr line
	tr.State(nil)
	if tr.Params() != nil || tr.Weights() != nil {
		t.Error("the zero trainer has parameters")
	}
}

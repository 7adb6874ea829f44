package metric_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// result is what a generated package returns from Step and Loss.
type result struct {
	Loss   float32
	Logits [][2]float32
}

// step stands for the method of a generated Trainer. It separates numbers below 3 from the others.
func step(x, y []float32) (result, error) {
	var r result
	for i := range x {
		r.Logits = append(r.Logits, [2]float32{0, x[i] - 2.5})
		margin := float64(2*y[i]-1) * float64(x[i]-2.5)
		r.Loss += float32(math.Log1p(math.Exp(-margin))) / float32(len(x))
	}
	return r, nil
}

// A loop measures the loss and several metrics of all batches of an epoch.
func Example() {
	items := data.Of([][2]float32{{1, 0}, {2, 0}, {2.75, 0}, {3, 1}, {4, 1}, {2, 1}, {5, 1}})
	batches := data.Load(items, data.Pairs(func(item [2]float32, x, y *float32, _ *rand.Rand) error {
		*x, *y = item[0], item[1]
		return nil
	}), data.LoaderOptions{Batch: 3})
	loss, accuracy := metric.Loss[metric.Classes]().New(), metric.Accuracy().New()
	f1, area := metric.F1(metric.Macro).New(), metric.AUROC().New()
	for b, err := range batches.Epoch(context.Background(), 0, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := step(b.X, b.Y)
		if err != nil {
			fmt.Println(err)
			return
		}
		o := metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits)}
		for _, class := range b.Y {
			o.Targets = append(o.Targets, int64(class))
		}
		for _, c := range []metric.Counter[metric.Classes]{loss, accuracy, f1, area} {
			c.Add(o)
		}
	}
	if err := metric.Err(accuracy); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.3f, accuracy %.1f %%, AUROC %.3f\n", loss.Value(), accuracy.Value(), area.Value())
	fmt.Println("F1", f1.(metric.Texter).Text())
	// Output:
	// loss 0.461, accuracy 71.4 %, AUROC 0.875
	// F1 70.83 % (0: 66.67 %, 1: 75 %)
}

// near counts the predictions whose error is at most 0.5.
type near struct{ right, all int64 }

func (c *near) Add(o metric.Values) {
	for i, target := range o.Targets {
		if c.all++; math.Abs(float64(o.Predicted[i]-target)) <= 0.5 {
			c.right++
		}
	}
}

func (c *near) Value() float64 { return 100 * float64(c.right) / float64(c.all) } // NaN without data

func (c *near) State(s *rt.State) {
	rt.StateScalar(s, "right", &c.right)
	rt.StateScalar(s, "all", &c.all)
}

// A metric of your own is a type with three methods. It counts, so that batches do not matter.
func ExampleMetric() {
	m := metric.Metric[metric.Values]{
		Name: "close", Unit: "%", Better: 1, Curve: true,
		New: func() metric.Counter[metric.Values] { return &near{} },
	}
	c := m.New()
	c.Add(metric.Values{Predicted: []float32{1, 2, 3}, Targets: []float32{1.25, 3, 3}})
	c.Add(metric.Values{Predicted: []float32{4}, Targets: []float32{4.5}})
	fmt.Println(m.Name, c.Value(), m.Unit)
	// Output: close 75 %
}

// Of measures outputs of a type of your own, here of a model with two heads.
func ExampleOf() {
	type heads struct {
		kind metric.Classes
		age  metric.Values
	}
	kind := metric.Of(func(h heads) metric.Classes { return h.kind }, metric.Accuracy()).New()
	age := metric.Of(func(h heads) metric.Values { return h.age }, metric.MAE()).New()
	o := heads{
		kind: metric.Classes{Scores: []float32{0.5, 2, 1, -1}, Targets: []int64{1, 1}},
		age:  metric.Values{Predicted: []float32{30, 41}, Targets: []float32{33, 40}},
	}
	kind.Add(o)
	age.Add(o)
	fmt.Println(kind.Value(), age.Value())
	// Output: 50 2
}

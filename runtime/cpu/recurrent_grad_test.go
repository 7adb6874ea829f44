package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// layerLoss is a random linear function of the results of a layer.
type layerLoss struct {
	*cellTest
	c0, dy, dh, dc []float64
	// cell updates h, and c if the layer has cell states.
	cell func(x, h, c []float64)
}

// newLayerLoss draws a layer's operands and the gradients of its results. It clears the ones that may
// be absent unless given is true.
func newLayerLoss(rng *rand.Rand, size [3]int, gates int, reverse, full, given bool) *layerLoss {
	steps, batch, hidden := size[0], size[1], size[2]
	l := &layerLoss{cellTest: newCellTest(rng, steps, batch, hidden, gates, reverse, full)}
	l.c0, l.dy, l.dh, l.dc = draw(rng, len(l.h0)), draw(rng, steps*len(l.h0)), draw(rng, len(l.h0)), draw(rng, len(l.h0))
	if !given {
		for _, v := range [][]float64{l.h0, l.c0, l.dh, l.dc} {
			clear(v)
		}
	}
	return l
}

// value returns the loss for the operands x, h0 and c0 of the layer.
func (l *layerLoss) value() float64 {
	state := append([]float64{}, l.c0...)
	y, h := l.run(func(n int, x, h []float64) { l.cell(x, h, state[n*l.hidden:][:l.hidden]) })
	sum := 0.0
	for i, v := range y {
		sum += v * l.dy[i]
	}
	for i, v := range h {
		if n := i / l.hidden; l.lens == nil || l.lens[n] > 0 {
			sum += v*l.dh[i] + state[i]*l.dc[i]
		}
	}
	return sum
}

// slopes returns the derivatives of the loss with respect to v, by differences.
func (l *layerLoss) slopes(v []float64) []float64 {
	const step = 1e-4
	d := make([]float64, len(v))
	for i, old := range v {
		v[i] = old + step
		d[i] = l.value()
		v[i] = old - step
		d[i] = (d[i] - l.value()) / (2 * step)
		v[i] = old
	}
	return d
}

// backWeights returns rows of the recurrent weights as a backward kernel takes them.
func backWeights[T Float](c *cellTest, from, gates int) []T {
	n := c.hidden
	rows := to[T](c.r[from*n*n:][:gates*n*n])
	if f, ok := any(rows).([]float32); ok {
		panels := make([]float32, PanelsLen(gates*n, n))
		PackPanels(panels, f, gates*n, n, n, false, 1, 0)
		return any(panels).([]T)
	}
	return rows
}

// withEachType runs tests of kernels for float32, at each level, and for float64.
func withEachType(t *testing.T, narrow, wide func(t *testing.T)) {
	for _, level := range Levels() {
		t.Run("float32 "+level.String(), func(t *testing.T) {
			defer SetLevel(level)()
			narrow(t)
		})
	}
	t.Run("float64", wide)
}

// sizes are the steps, sequences and hidden elements of layers.
var sizes = [][3]int{{1, 1, 1}, {4, 3, 5}, {3, 4, 17}}

func TestLSTMGrad(t *testing.T) { withEachType(t, testLSTMGrad[float32], testLSTMGrad[float64]) }

func testLSTMGrad[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range sizes {
		for variant := range 8 {
			reverse, full, given := variant&1 != 0, variant&2 != 0, variant&4 != 0
			steps, batch, hidden := size[0], size[1], size[2]
			t.Run(fmt.Sprint(size, variant), func(t *testing.T) {
				l := newLayerLoss(rng, size, 4, reverse, full, given)
				l.cell = func(x, h, c []float64) {
					before := append([]float64{}, h...)
					for j := range h {
						gate := func(k int) float64 { return x[k*hidden+j] + l.dot(before, k*hidden+j) }
						c[j] = sigmoidOf(gate(2))*c[j] + sigmoidOf(gate(0))*math.Tanh(gate(3))
						h[j] = sigmoidOf(gate(1)) * math.Tanh(c[j])
					}
				}
				var h0, c0, dh, dc []T
				if given {
					h0, c0, dh, dc = to[T](l.h0), to[T](l.c0), to[T](l.dh), to[T](l.dc)
				}
				results := func() []T { return make([]T, batch*hidden) }
				y, cells, gates := make([]T, len(l.dy)), make([]T, len(l.dy)), make([]T, len(l.x))
				for i := range gates {
					gates[i] = 7 // the kernel has to clear elements beyond a sequence
				}
				if err := LSTMTrace(context.Background(), y, results(), results(), gates, cells, to[T](l.x), weights[T](l.cellTest, 0, 4), l.lens, h0, c0, steps, batch, hidden, reverse); err != nil {
					t.Fatal(err)
				}
				gradH, gradC := results(), results()
				if err := LSTMGrad(context.Background(), gates, gradH, gradC, gates, cells, backWeights[T](l.cellTest, 0, 4), l.lens, c0, to[T](l.dy), dh, dc, steps, batch, hidden, reverse); err != nil {
					t.Fatal(err)
				}
				near(t, "x", gates, l.slopes(l.x))
				near(t, "h0", gradH, l.slopes(l.h0))
				near(t, "c0", gradC, l.slopes(l.c0))
			})
		}
	}
}

func TestGRUGrad(t *testing.T) { withEachType(t, testGRUGrad[float32], testGRUGrad[float64]) }

func testGRUGrad[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range sizes {
		for variant := range 16 {
			reverse, full, given, linear := variant&1 != 0, variant&2 != 0, variant&4 != 0, variant&8 != 0
			steps, batch, hidden := size[0], size[1], size[2]
			t.Run(fmt.Sprint(size, variant), func(t *testing.T) {
				l := newLayerLoss(rng, size, 3, reverse, full, given)
				bias := draw(rng, hidden)
				var befores []float64 // the states before the steps of each sequence, in the order of value
				l.cell = func(x, h, _ []float64) {
					before, kept := append([]float64{}, h...), make([]float64, hidden)
					befores = append(befores, before...)
					r := make([]float64, hidden)
					for j := range h {
						r[j] = sigmoidOf(x[hidden+j] + l.dot(before, hidden+j))
						kept[j] = r[j] * before[j]
					}
					for j := range h {
						z := sigmoidOf(x[j] + l.dot(before, j))
						next := x[2*hidden+j] + l.dot(kept, 2*hidden+j)
						if linear {
							next = x[2*hidden+j] + r[j]*(l.dot(before, 2*hidden+j)+bias[j])
						}
						h[j] = (1-z)*math.Tanh(next) + z*before[j]
					}
				}
				l.value()
				before := make([]T, len(l.dy))
				for n := range batch {
					length := steps
					if l.lens != nil {
						length = int(l.lens[n])
					}
					for i := range length {
						at := i
						if reverse {
							at = length - 1 - i
						}
						copy(before[(at*batch+n)*hidden:], to[T](befores[:hidden]))
						befores = befores[hidden:]
					}
				}
				var h0, dh []T
				if given {
					h0, dh = to[T](l.h0), to[T](l.dh)
				}
				y, kept, gates := make([]T, len(l.dy)), make([]T, len(l.dy)), make([]T, len(l.x))
				for i := range gates {
					gates[i] = 7 // the kernel has to clear elements beyond a sequence
				}
				if err := GRUTrace(context.Background(), y, make([]T, batch*hidden), gates, kept, to[T](l.x), weights[T](l.cellTest, 0, 2), weights[T](l.cellTest, 2, 1), l.lens, h0, to[T](bias), steps, batch, hidden, reverse, linear); err != nil {
					t.Fatal(err)
				}
				dk, gradH := make([]T, len(kept)), make([]T, batch*hidden)
				if err := GRUGrad(context.Background(), gates, dk, gradH, gates, kept, before, backWeights[T](l.cellTest, 0, 2), backWeights[T](l.cellTest, 2, 1), l.lens, to[T](l.dy), dh, steps, batch, hidden, reverse, linear); err != nil {
					t.Fatal(err)
				}
				near(t, "x", gates, l.slopes(l.x))
				near(t, "h0", gradH, l.slopes(l.h0))
				if linear { // the bias is added to the kept product
					sums := make([]T, hidden)
					for i, v := range dk {
						sums[i%hidden] += v
					}
					near(t, "bias", sums, l.slopes(bias))
				}
			})
		}
	}
}

func TestRecurrentGradsRefuseLengths(t *testing.T) {
	x, state, lens := make([]float32, 8), make([]float32, 1), []int32{3}
	if err := LSTMGrad(context.Background(), x, state, state, x, x, make([]float32, 64), lens, nil, nil, nil, nil, 2, 1, 1, false); err == nil {
		t.Error("LSTMGrad: no error for length 3 of 2 steps")
	}
	if err := GRUGrad(context.Background(), x, make([]float32, 8), state, x, x, x, make([]float32, 64), make([]float32, 64), lens, nil, nil, 2, 1, 1, false, true); err == nil {
		t.Error("GRUGrad: no error for length 3 of 2 steps")
	}
}

package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// cellTest is a recurrent layer of random numbers in float64, with plain formulas.
type cellTest struct {
	steps, batch, hidden, gates int
	reverse                     bool
	lens                        []int32
	x, r, h0                    []float64 // r is [gates·hidden, hidden]
}

func newCellTest(rng *rand.Rand, steps, batch, hidden, gates int, reverse, full bool) *cellTest {
	c := &cellTest{steps: steps, batch: batch, hidden: hidden, gates: gates, reverse: reverse}
	c.x, c.r, c.h0 = draw(rng, steps*batch*gates*hidden), draw(rng, gates*hidden*hidden), draw(rng, batch*hidden)
	if !full {
		c.lens = make([]int32, batch)
		for n := range c.lens {
			c.lens[n] = int32(rng.IntN(steps + 1))
		}
	}
	return c
}

func draw(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(float32(rng.Float64()*2 - 1))
	}
	return v
}

// dot returns the product of a state and row j of the recurrent weights.
func (c *cellTest) dot(h []float64, j int) (s float64) {
	for k, v := range h {
		s += v * c.r[j*c.hidden+k]
	}
	return s
}

// run applies a cell to each sequence by itself: its own steps, one after another.
func (c *cellTest) run(cell func(n int, x, h []float64)) (y, h []float64) {
	y, h = make([]float64, c.steps*c.batch*c.hidden), append([]float64{}, c.h0...)
	for n := range c.batch {
		length := c.steps
		if c.lens != nil {
			length = int(c.lens[n])
		}
		for i := range length {
			t := i
			if c.reverse {
				t = length - 1 - i
			}
			at := t*c.batch + n
			cell(n, c.x[at*c.gates*c.hidden:][:c.gates*c.hidden], h[n*c.hidden:][:c.hidden])
			copy(y[at*c.hidden:], h[n*c.hidden:][:c.hidden])
		}
		if length == 0 {
			clear(h[n*c.hidden:][:c.hidden])
		}
	}
	return y, h
}

// weights returns rows of the recurrent weights as a kernel takes them.
func weights[T Float](c *cellTest, from, gates int) []T {
	rows := to[T](c.r[from*c.hidden*c.hidden:][:gates*c.hidden*c.hidden])
	n, k := gates*c.hidden, c.hidden
	if f, ok := any(rows).([]float32); ok {
		panels := make([]float32, PanelsLen(k, n))
		PackPanels(panels, f, k, n, k, true, 1, 0)
		return any(panels).([]T)
	}
	m := make([]T, n*k)
	for i := range m {
		m[i] = rows[i%n*k+i/n]
	}
	return m
}

func to[T Float](v []float64) []T {
	if v == nil {
		return nil
	}
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

func near[T Float](t *testing.T, what string, got []T, want []float64) {
	t.Helper()
	for i, v := range got {
		if d := math.Abs(float64(v) - want[i]); !(d <= 2e-5) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, want[i])
		}
	}
}

func sigmoidOf(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func TestRecurrentLayers(t *testing.T) {
	t.Run("float32", testRecurrentLayers[float32])
	t.Run("float64", testRecurrentLayers[float64])
}

func testRecurrentLayers[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][3]int{{0, 2, 3}, {5, 0, 3}, {5, 2, 0}, {1, 1, 1}, {4, 3, 17}, {6, 5, 32}} {
		for variant := range 16 {
			reverse, full, flag, given := variant&1 != 0, variant&2 != 0, variant&4 != 0, variant&8 != 0
			steps, batch, hidden := size[0], size[1], size[2]
			t.Run(fmt.Sprint(size, variant), func(t *testing.T) {
				test := func(gates int) *cellTest {
					c := newCellTest(rng, steps, batch, hidden, gates, reverse, full)
					if !given {
						clear(c.h0)
					}
					return c
				}
				initial := func(c *cellTest) []T {
					if given {
						return to[T](c.h0)
					}
					return nil
				}
				results := func() (y, h []T) {
					y, h = make([]T, steps*batch*hidden), make([]T, batch*hidden)
					for i := range y {
						y[i] = 7 // the kernel has to clear elements beyond a sequence
					}
					return y, h
				}
				clip := 0.0
				if flag {
					clip = 0.5
				}
				clipped := func(x float64) float64 {
					if clip > 0 {
						return min(max(x, -clip), clip)
					}
					return x
				}

				c := test(1)
				y, h := results()
				if err := RNN(context.Background(), y, h, to[T](c.x), weights[T](c, 0, 1), c.lens, initial(c), make([]T, batch*hidden), steps, batch, hidden, reverse, clip, "affine", 0.5, 0.25); err != nil {
					t.Fatal(err)
				}
				wantY, wantH := c.run(func(_ int, x, h []float64) {
					before := append([]float64{}, h...)
					for j := range h {
						h[j] = 0.5*clipped(x[j]+c.dot(before, j)) + 0.25
					}
				})
				near(t, "RNN y", y, wantY)
				near(t, "RNN h", h, wantH)

				c = test(3)
				bias := draw(rng, hidden)
				y, h = results()
				if err := GRU(context.Background(), y, h, to[T](c.x), weights[T](c, 0, 2), weights[T](c, 2, 1), c.lens, initial(c), to[T](bias), make([]T, 3*batch*hidden), make([]T, batch*hidden), steps, batch, hidden, reverse, flag, clip, "sigmoid", 0, 0, "tanh", 0, 0); err != nil {
					t.Fatal(err)
				}
				wantY, wantH = c.run(func(_ int, x, h []float64) {
					before, kept := append([]float64{}, h...), make([]float64, hidden)
					r := make([]float64, hidden)
					for j := range h {
						r[j] = sigmoidOf(clipped(x[hidden+j] + c.dot(before, hidden+j)))
						kept[j] = r[j] * before[j]
					}
					for j := range h {
						z := sigmoidOf(clipped(x[j] + c.dot(before, j)))
						next := x[2*hidden+j] + c.dot(kept, 2*hidden+j)
						if flag {
							next = x[2*hidden+j] + r[j]*(c.dot(before, 2*hidden+j)+bias[j])
						}
						h[j] = (1-z)*math.Tanh(clipped(next)) + z*before[j]
					}
				})
				near(t, "GRU y", y, wantY)
				near(t, "GRU h", h, wantH)

				c = test(4)
				c0, peepholes := draw(rng, batch*hidden), draw(rng, 3*hidden)
				if !given {
					peepholes = nil
				}
				y, h = results()
				memory := make([]T, batch*hidden)
				if err := LSTM(context.Background(), y, h, memory, to[T](c.x), weights[T](c, 0, 4), c.lens, initial(c), to[T](c0), to[T](peepholes), make([]T, 4*batch*hidden), steps, batch, hidden, reverse, flag, clip, "sigmoid", 0, 0, "tanh", 0, 0, "softsign", 0, 0); err != nil {
					t.Fatal(err)
				}
				state := append([]float64{}, c0...)
				wantY, wantH = c.run(func(n int, x, h []float64) {
					before, s := append([]float64{}, h...), state[n*hidden:][:hidden]
					for j := range h {
						gate := func(k, weight int) float64 {
							v := x[k*hidden+j] + c.dot(before, k*hidden+j)
							if peepholes != nil && weight >= 0 {
								v += peepholes[weight*hidden+j] * s[j]
							}
							return clipped(v)
						}
						in, forget := sigmoidOf(gate(0, 0)), sigmoidOf(gate(2, 2))
						if flag {
							forget = 1 - in
						}
						s[j] = forget*s[j] + in*math.Tanh(gate(3, -1))
						h[j] = sigmoidOf(gate(1, 1)) * s[j] / (1 + math.Abs(s[j]))
					}
				})
				near(t, "LSTM y", y, wantY)
				near(t, "LSTM h", h, wantH)
				for n := range batch {
					if steps == 0 || c.lens != nil && c.lens[n] == 0 {
						clear(state[n*hidden:][:hidden])
					}
				}
				near(t, "LSTM c", memory, state)
			})
		}
	}
}

func TestRecurrentLayersRefuseLengths(t *testing.T) {
	for _, l := range []int32{-1, 3} {
		x, state := make([]float32, 2), make([]float32, 1)
		err := RNN(context.Background(), make([]float32, 2), state, x, make([]float32, 16), []int32{l}, nil, make([]float32, 1), 2, 1, 1, false, 0, "tanh", 0, 0)
		if err == nil {
			t.Errorf("no error for length %d", l)
		}
	}
}

func TestActivationsAreThoseOfTheirNames(t *testing.T) {
	for name, f := range map[Activation]func(x float64) float64{
		"affine":          func(x float64) float64 { return 0.75*x + 0.5 },
		"elu":             func(x float64) float64 { return max(x, 0) + min(0, 0.75*math.Expm1(x)) },
		"hardsigmoid":     func(x float64) float64 { return min(max(0.75*x+0.5, 0), 1) },
		"leakyrelu":       func(x float64) float64 { return max(x, 0) + 0.75*min(x, 0) },
		"relu":            func(x float64) float64 { return max(x, 0) },
		"scaledtanh":      func(x float64) float64 { return 0.75 * math.Tanh(0.5*x) },
		"sigmoid":         sigmoidOf,
		"softplus":        func(x float64) float64 { return math.Log1p(math.Exp(x)) },
		"softsign":        func(x float64) float64 { return x / (1 + math.Abs(x)) },
		"tanh":            math.Tanh,
		"thresholdedrelu": func(x float64) float64 { return map[bool]float64{true: x}[x >= 0.75] },
	} {
		x := []float64{-2, -0.25, 0, 0.5, 0.75, 3, math.NaN()}
		narrow, wide := to[float32](x), to[float64](x)
		activate(narrow, name, 0.75, 0.5)
		activate(wide, name, 0.75, 0.5)
		for i, v := range x[:6] {
			if math.Abs(wide[i]-f(v)) > 1e-14 || math.Abs(float64(narrow[i])-f(v)) > 1e-6 {
				t.Errorf("%s of %v is %v and %v, want %v", name, v, wide[i], narrow[i], f(v))
			}
		}
		if !math.IsNaN(wide[6]) || !math.IsNaN(float64(narrow[6])) {
			t.Errorf("%s of NaN is %v and %v", name, wide[6], narrow[6])
		}
	}
}

func BenchmarkLSTM(b *testing.B) {
	for _, size := range [][3]int{{100, 1, 128}, {100, 1, 512}, {50, 16, 256}} {
		steps, batch, hidden := size[0], size[1], size[2]
		b.Run(fmt.Sprintf("steps_%d_batch_%d_hidden_%d", steps, batch, hidden), func(b *testing.B) {
			c := newCellTest(rand.New(rand.NewPCG(1, 2)), steps, batch, hidden, 4, false, true)
			x, r := to[float32](c.x), weights[float32](c, 0, 4)
			y, h, memory := make([]float32, steps*batch*hidden), make([]float32, batch*hidden), make([]float32, batch*hidden)
			scratch := make([]float32, 4*batch*hidden)
			b.ReportAllocs()
			for b.Loop() {
				_ = LSTM(context.Background(), y, h, memory, x, r, nil, nil, nil, nil, scratch, steps, batch, hidden, false, false, 0, "sigmoid", 0, 0, "tanh", 0, 0, "tanh", 0, 0)
			}
		})
	}
}

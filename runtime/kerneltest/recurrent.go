package kerneltest

import (
	"math"
	"testing"
)

// Cells holds kernels that run one step of a recurrent layer for one sequence. The activation
// functions are the logistic function for gates, and tanh for the candidate and for the cell state
// of LSTM. The recurrent weights are zero.
type Cells struct {
	// LSTM computes the output h and the cell state c, [n], from the previous state c0 and x. x, [4·n],
	// holds the input, output and forget gates and the candidate, before their activation functions.
	LSTM func(h, c, x, c0 []float32)
	// LSTMTrace is LSTM, and sets gates, [4·n], to the gates and the candidate after their activation
	// functions.
	LSTMTrace func(h, c, gates, x, c0 []float32)
	// LSTMGrad computes dx, [4·n], and dc, the gradients of x and c0. gates and c are results of
	// LSTMTrace. dh and dcAfter are the gradients of h and c.
	LSTMGrad func(dx, dc, gates, c, c0, dh, dcAfter []float32)
	// GRU computes the output h, [n], from the previous h0 and x. x, [3·n], holds the update and reset
	// gates and the candidate, before their activation functions. If linear is true, bias times the
	// reset gate is added to the candidate. Otherwise bias is not used.
	GRU func(h, x, h0, bias []float32, linear bool)
}

// Test runs the kernels on ordinary and special numbers, and on all lengths below 150.
func (cells Cells) Test(t *testing.T) {
	state := func(n, seed int) *Slice[float32] {
		s := NewSlice[float32](n, (n+seed)%5)
		for i := range s.Data {
			s.Data[i] = float32(math.Sin(float64(i*(seed+3)+seed))) * float32([]float64{1, 3, 12, 1e-4}[(i/7+seed)%4])
		}
		return s
	}
	for n := range 150 {
		gates := func(count int) *Slice[float32] {
			s := state(count*n, 2)
			for i := range n {
				if i%3 == 2 {
					s.Data[(i%count)*n+i] = special[(i/3+n)%len(special)]
				}
			}
			return s
		}

		x, c0 := gates(4), state(n, 1)
		if n > 10 {
			c0.Data[n/2], x.Data[2*n+n/2] = special[n%len(special)], 1
		}
		x.Freeze()
		c0.Freeze()
		h, c := NewSlice[float32](n, n%3), NewSlice[float32](n, n%7)
		cells.LSTM(h.Data, c.Data, x.Data, c0.Data)
		for _, s := range []*Slice[float32]{h, c, x, c0} {
			s.Check(t, "LSTM")
		}
		for i := range n {
			gate := func(k int) float64 { return float64(x.Data[k*n+i]) }
			want := sigmoid(gate(2))*float64(c0.Data[i]) + sigmoid(gate(0))*math.Tanh(gate(3))
			nearTo(t, "LSTM c", n, i, c.Data[i], want)
			nearTo(t, "LSTM h", n, i, h.Data[i], sigmoid(gate(1))*math.Tanh(float64(c.Data[i])))
		}

		trace, h2, c2 := NewSlice[float32](4*n, n%3), NewSlice[float32](n, n%5), NewSlice[float32](n, n%6)
		cells.LSTMTrace(h2.Data, c2.Data, trace.Data, x.Data, c0.Data)
		for _, s := range []*Slice[float32]{h2, c2, trace, x, c0} {
			s.Check(t, "LSTMTrace")
		}
		for i, v := range x.Data {
			want := sigmoid(float64(v))
			if i >= 3*n {
				want = math.Tanh(float64(v))
			}
			nearTo(t, "LSTMTrace gates", 4*n, i, trace.Data[i], want)
		}
		for i := range n {
			nearTo(t, "LSTMTrace c", n, i, c2.Data[i], float64(c.Data[i]))
			nearTo(t, "LSTMTrace h", n, i, h2.Data[i], float64(h.Data[i]))
		}
		dh, last := state(n, 5), state(n, 6)
		for _, s := range []*Slice[float32]{trace, c2, dh, last} {
			s.Freeze()
		}
		dx, dc := NewSlice[float32](4*n, n%4), NewSlice[float32](n, n%3)
		cells.LSTMGrad(dx.Data, dc.Data, trace.Data, c2.Data, c0.Data, dh.Data, last.Data)
		for _, s := range []*Slice[float32]{dx, dc, trace, c2, c0, dh, last} {
			s.Check(t, "LSTMGrad")
		}
		for i := range n {
			gate := func(k int) float64 { return float64(trace.Data[k*n+i]) }
			in, out, forget, next := gate(0), gate(1), gate(2), gate(3)
			squashed := math.Tanh(float64(c2.Data[i]))
			d := float64(last.Data[i]) + float64(dh.Data[i])*out*(1-squashed*squashed)
			size := math.Abs(float64(last.Data[i])) + math.Abs(float64(dh.Data[i]))
			nearToWithin(t, "LSTMGrad in", n, i, dx.Data[i], d*next*in*(1-in), size)
			nearToWithin(t, "LSTMGrad out", n, i, dx.Data[n+i], float64(dh.Data[i])*squashed*out*(1-out), size)
			nearToWithin(t, "LSTMGrad forget", n, i, dx.Data[2*n+i], d*float64(c0.Data[i])*forget*(1-forget), size*math.Abs(float64(c0.Data[i])))
			nearToWithin(t, "LSTMGrad next", n, i, dx.Data[3*n+i], d*in*(1-next*next), size)
			nearToWithin(t, "LSTMGrad c", n, i, dc.Data[i], d*forget, size)
		}

		x = gates(3)
		x.Freeze()
		h0, bias := state(n, 3), state(n, 4)
		h0.Freeze()
		bias.Freeze()
		for _, linear := range []bool{false, true} {
			h := NewSlice[float32](n, n%5)
			cells.GRU(h.Data, x.Data, h0.Data, bias.Data, linear)
			for _, s := range []*Slice[float32]{h, x, h0, bias} {
				s.Check(t, "GRU")
			}
			for i := range n {
				gate := func(k int) float64 { return float64(x.Data[k*n+i]) }
				next := gate(2)
				if linear {
					next += sigmoid(gate(1)) * float64(bias.Data[i])
				}
				z := sigmoid(gate(0))
				nearTo(t, "GRU h", n, i, h.Data[i], (1-z)*math.Tanh(next)+z*float64(h0.Data[i]))
			}
		}
	}
}

// nearTo fails the test unless got, element i of a result of n elements, is near want: both are
// NaN, or they are equal as float32s, or they differ by at most 1e-6·max(1, |want|).
func nearTo(t *testing.T, what string, n, i int, got float32, want float64) {
	t.Helper()
	nearToWithin(t, what, n, i, got, want, 1)
}

// nearToWithin is nearTo for a difference of two numbers of about magnitude `size`, which loses
// precision. got may differ from want by 1e-6·max(1, size, |want|). Every result is accepted if size is
// infinite or NaN.
func nearToWithin(t *testing.T, what string, n, i int, got float32, want, size float64) {
	t.Helper()
	g := float64(got)
	if float32(want) == got || g != g && want != want || size != size || math.IsInf(size, 0) {
		return
	}
	if !(math.Abs(g-want) <= 1e-6*max(1, size, math.Abs(want))) {
		t.Fatalf("%s: element %d of %d is %v, want %v", what, i, n, got, want)
	}
}

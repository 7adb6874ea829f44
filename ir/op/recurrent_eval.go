package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// recurrentMatrix returns recurrent weights as a matrix [rows,width] in row-major order. In t they may be stored in
// panels of adjacent columns, [panels,rows,width of a panel].
func recurrentMatrix(t *ir.Tensor, rows, width int) []float64 {
	if t.Rank() == 2 {
		return NumbersOf(t)
	}
	lanes := t.Shape[2]
	m := make([]float64, rows*width)
	for i := range m {
		k, j := i/width, i%width
		m[i] = t.Float((j/lanes*rows+k)*lanes + j%lanes)
	}
	return m
}

// cell runs one time step of one sequence. It updates the states in place, given the projected x of the step. The
// first state is the step's row of y. `at` is step·N + sequence.
type cell func(at int, x []float64, states [][]float64)

// recurrence runs a cell over all steps of `batch` sequences in float64, in reverse order if reverse is set. lens
// are the lengths of the sequences. If lens is nil, all sequences have `steps` steps.
type recurrence struct {
	// width is the number of elements of the projected x for each step, and hidden the number of
	// elements of a state.
	steps, batch, hidden, width int
	reverse                     bool
	lens                        *ir.Tensor
}

// check returns an error if a length is out of range.
func (r recurrence) check() error {
	for n := range r.batch {
		if l := r.length(n); l < 0 || l > r.steps {
			return fmt.Errorf("length %d of sequence %d is not within %d steps", l, n, r.steps)
		}
	}
	return nil
}

func (r recurrence) length(sequence int) int {
	if r.lens == nil {
		return r.steps
	}
	return int(r.lens.Int(sequence))
}

// run computes y, [steps,batch,hidden], from the projected x; next computes one time step. run updates states, which
// then hold the final states, [batch,hidden]. The final states of a sequence without steps are zeros. run returns an
// error if a length is out of range.
func (r recurrence) run(x []float64, states [][]float64, next cell) ([]float64, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	y := make([]float64, r.steps*r.batch*r.hidden)
	for t := range r.steps {
		if r.reverse {
			t = r.steps - 1 - t
		}
		for n := range r.batch {
			if t >= r.length(n) {
				continue
			}
			rows := make([][]float64, len(states))
			for i, s := range states {
				rows[i] = s[n*r.hidden:][:r.hidden]
			}
			at := t*r.batch + n
			next(at, x[at*r.width:][:r.width], rows)
			copy(y[at*r.hidden:], rows[0])
		}
	}
	for n := range r.batch {
		if r.length(n) == 0 {
			for _, s := range states {
				clear(s[n*r.hidden:][:r.hidden])
			}
		}
	}
	return y, nil
}

// eval computes one direction of a layer in float64. next computes one time step. `first` is the index of the first
// operand that is a state, `states` is the number of states, and `hidden` the number of elements of a state.
func (op Steps) eval(in []*ir.Tensor, first, states, hidden int, next cell) ([]*ir.Tensor, error) {
	x := in[0]
	r := recurrence{x.Shape[0], x.Shape[1], hidden, x.Shape[2], op.Reverse, OperandOf(in, first-1)}
	var values [][]float64
	for i := range states {
		values = append(values, initialState(OperandOf(in, first+i), 0, r.batch*hidden))
	}
	y, err := r.run(NumbersOf(x), values, next)
	if err != nil {
		return nil, err
	}
	out := []*ir.Tensor{roundedTensor(x.DType, y, r.steps, r.batch, hidden)}
	for _, v := range values {
		out = append(out, roundedTensor(x.DType, v, r.batch, hidden))
	}
	return out, nil
}

func initialState(t *ir.Tensor, from, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		if t != nil {
			s[i] = t.Float(from + i)
		}
	}
	return s
}

func roundedTensor(d ir.DType, values []float64, shape ...int) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i, v := range values {
		t.SetFloat(i, v)
	}
	return t
}

// eval computes a layer in float64. gates, functions and states are as in [Recurrent.infer]. cellOf returns the cell
// of direction i. Its argument r holds the recurrent weights as a matrix [H,gates·H], and bias their biases. For the
// first `separate` gates, eval adds both biases to the projected x. For the other gates it adds only the bias of w,
// and the cell must add the recurrent bias.
func (op Recurrent) eval(in []*ir.Tensor, gates, functions, states, separate int, cellOf func(i int, s Steps, r, bias []float64) cell) ([]*ir.Tensor, error) {
	x, w, r := in[recurrentX], in[recurrentW], in[recurrentR]
	d, hidden, inputs := r.Shape[0], r.Shape[2], x.Shape[2]
	run := recurrence{steps: x.Shape[0], batch: x.Shape[1], hidden: hidden, width: gates * hidden, lens: OperandOf(in, recurrentLens)}
	size := run.batch * hidden
	out := []*ir.Tensor{ir.NewTensor(x.DType, run.steps, d, run.batch, hidden)}
	for range states {
		out = append(out, ir.NewTensor(x.DType, d, run.batch, hidden))
	}
	for i := range d {
		biases := initialState(OperandOf(in, recurrentB), i*2*run.width, 2*run.width)
		matrix := make([]float64, hidden*run.width)
		for k := range matrix {
			matrix[k] = r.Float((i*run.width+k%run.width)*hidden + k/run.width)
		}
		projected := make([]float64, run.steps*run.batch*run.width)
		for k := range projected {
			row, j := k/run.width, k%run.width
			sum := biases[j]
			if j < separate*hidden {
				sum += biases[run.width+j]
			}
			for l := range inputs {
				sum += float64(x.Float(row*inputs+l) * w.Float((i*run.width+j)*inputs+l))
			}
			projected[k] = sum
		}
		var values [][]float64
		for s := range states {
			values = append(values, initialState(OperandOf(in, recurrentH+s), i*size, size))
		}
		steps := op.steps(i, functions)
		run.reverse = steps.Reverse
		y, err := run.run(projected, values, cellOf(i, steps, matrix, biases[run.width:]))
		if err != nil {
			return nil, err
		}
		for k, v := range y {
			out[0].SetFloat((k/size*d+i)*size+k%size, v)
		}
		for s, state := range values {
			for k, v := range state {
				out[1+s].SetFloat(i*size+k, v)
			}
		}
	}
	return out, nil
}

// multiply adds h·m to gates. h is the state of a sequence. m is the first len(gates) columns of matrix, which has
// `width` columns.
func multiply(gates, h, matrix []float64, width int) {
	for k, v := range h {
		for j, w := range matrix[k*width:][:len(gates)] {
			gates[j] += float64(v * w)
		}
	}
}

// gate clamps the elements of x to [−Clip, Clip] if Clip is above 0. Then it applies activation function i of op to
// each element.
func (op Steps) gate(i int, x []float64) {
	if op.Clip > 0 {
		for k, v := range x {
			x[k] = limit(v, -op.Clip, op.Clip)
		}
	}
	op.activate(i, x)
}

func (op Steps) activate(i int, x []float64) {
	f := activations[op.Activations[i]].f
	for k, v := range x {
		x[k] = f(v, op.Alphas[i], op.Betas[i])
	}
}

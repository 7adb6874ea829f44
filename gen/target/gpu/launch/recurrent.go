package launch

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// recurrent has the operators that run one direction of a recurrent layer. A first kernel sets the state. The other
// kernels are repeated for each time step, see [kernels.Rounds]. They compute the products of the state and the
// recurrent weights, and the cell's formula.
var recurrent = []entry{
	computes(gruSteps),
	computes(lstmSteps),
	computes(rnnSteps),
}

// recurrence is a node of a recurrent layer. The results are y and the states, h first.
type recurrence struct {
	*ir.Node
	op.Steps
	steps, batch, hidden dim.Dim
	dtype                ir.DType
	lens                 *ir.Value
	initial              []*ir.Value // of each state; nil is zero
	// h holds two hidden states, [2, batch, hidden]. A step reads one and writes the other, in turns.
	h *kernels.Scratch
}

// recurrenceOf returns the recurrence of a node. Operand `lengths` holds the lengths of the sequences. The operands
// after it are the initial states. recurrenceOf returns an error if the weights are packed for the CPU.
func recurrenceOf(o op.Steps, n *ir.Node, lengths int) (*recurrence, error) {
	y := n.Results[0].Type
	if n.Args[1].Type.Rank() != 2 {
		return nil, fmt.Errorf("recurrent weights %s, a matrix expected", n.Args[1].Type)
	}
	r := &recurrence{Node: n, Steps: o, steps: y.Shape[0], batch: y.Shape[1], hidden: y.Shape[2], dtype: y.DType, lens: n.Arg(lengths)}
	for i := range n.Results[1:] {
		r.initial = append(r.initial, n.Arg(lengths+1+i))
	}
	r.h = &kernels.Scratch{DType: r.dtype, Shape: []dim.Dim{dim.Const(2), r.batch, r.hidden}}
	return r, nil
}

func (r *recurrence) shape() []dim.Dim { return []dim.Dim{r.batch, r.hidden} }

// launches returns the launches of the node. The function `round` returns the launches of one time step. They are
// repeated for each time step.
func (r *recurrence) launches(round func() ([]kernels.Launch, error)) ([]kernels.Launch, error) {
	start, err := kernels.Map("recurrent_start", r.shape(), func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		for k, v := range r.initial {
			first := e.Number(r.dtype, 0)
			if v != nil { // the state of a sequence without steps is zero
				first = e.Select(e.Gt(r.length(e, at[0]), e.Int(0)), e.Read(v).Get(i), first)
			}
			e.Write(r.Results[1+k]).Set(i, first)
			if k == 0 {
				e.Scratch(r.h).Set(i, first)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	step, err := (&kernels.Rounds{Count: r.steps}).Repeat(round())
	return append([]kernels.Launch{start}, step...), err
}

func (r *recurrence) length(e *kernels.Emitter, sequence *kernel.Value) *kernel.Value {
	if r.lens == nil {
		return e.Dim(r.steps)
	}
	return e.Read(r.lens).Get(sequence)
}

// time returns the index of the time step that the current [kernels.Rounds] round computes. Rounds of
// a reverse layer begin with the last time step.
func (r *recurrence) time(e *kernels.Emitter) *kernel.Value {
	if r.Reverse {
		return e.Sub(e.Sub(e.Dim(r.steps), e.Int(1)), e.Round())
	}
	return e.Round()
}

// before returns element i of a sequence's hidden state before the time step that the current
// [kernels.Rounds] round computes.
func (r *recurrence) before(e *kernels.Emitter, sequence, i *kernel.Value) *kernel.Value {
	return e.Scratch(r.h).At(e.And(e.Round(), e.Int(1)), sequence, i)
}

// projected returns element i of a gate of a sequence, at the time step that the current [kernels.Rounds] round
// computes. It reads the first operand, which holds the projected inputs of all time steps.
func (r *recurrence) projected(e *kernels.Emitter, gate int, sequence, i *kernel.Value) *kernel.Value {
	return e.Read(r.Args[0]).At(r.time(e), sequence, e.Add(e.Mul(e.Int(gate), e.Dim(r.hidden)), i))
}

// product returns a launch that multiplies a vector of each sequence by the recurrent weights of several gates. The
// function `weights` returns where a gate's weights are: the index of the operand, and the index of the gate in
// this operand. The function `vector` returns element k of a sequence's vector. The function `store` stores element
// i of the products: `sums` holds one number for each gate.
func (r *recurrence) product(name string, gates int, weights func(gate int) (operand, place int), vector func(e *kernels.Emitter, sequence, k *kernel.Value) *kernel.Value, store func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value)) (kernels.Launch, error) {
	return kernels.MatVec(name, kernels.Vectors{
		M: r.batch, N: r.hidden, K: r.hidden, Matrices: gates, DType: r.dtype,
		A: vector,
		B: func(e *kernels.Emitter, gate int, k, i *kernel.Value) *kernel.Value {
			operand, place := weights(gate)
			return e.Read(r.Args[operand]).At(k, e.Add(e.Mul(e.Int(place), e.Dim(r.hidden)), i))
		},
		Store: store,
	})
}

// finish stores element i of y, and of the states of a sequence, after a time step. The current [kernels.Rounds]
// round computes this time step. states are the states before the step, and the function `cell` returns the states
// after it. If the time step is past the end of the sequence, the states stay the same, and y is 0.
func (r *recurrence) finish(e *kernels.Emitter, sequence, i *kernel.Value, states []*kernel.Value, cell func() []*kernel.Value) {
	t := r.time(e)
	y := e.If(e.Lt(t, r.length(e, sequence)), func() []*kernel.Value {
		after := cell()
		return append(after, after[0])
	}, func() []*kernel.Value { return append(states, e.Number(r.dtype, 0)) })
	at := e.Add(e.Mul(sequence, e.Dim(r.hidden)), i)
	for k, v := range y[:len(states)] {
		e.Write(r.Results[1+k]).Set(at, v)
	}
	next := e.Scratch(r.h)
	next.Set(next.Offset([]*kernel.Value{e.Sub(e.Int(1), e.And(e.Round(), e.Int(1))), sequence, i}), y[0])
	out := e.Write(r.Results[0])
	out.Set(out.Offset([]*kernel.Value{t, sequence, i}), y[len(states)])
}

func (r *recurrence) formula(n int, build func(b *ir.Builder, in []*ir.Value) []*ir.Value) *ir.Block {
	f := &ir.Func{}
	b := ir.NewBuilder(f)
	in := make([]*ir.Value, n)
	for i := range in {
		in[i] = b.Param("x", ir.TensorOf(r.dtype))
	}
	b.Return(build(b, in)...)
	return &f.Block
}

func rnnSteps(o op.RNNSteps, n *ir.Node) ([]kernels.Launch, error) {
	r, err := recurrenceOf(o.Steps, n, 2)
	if err != nil {
		return nil, err
	}
	next := r.formula(1, func(b *ir.Builder, in []*ir.Value) []*ir.Value { return []*ir.Value{o.Next(b, in[0])} })
	own := func(gate int) (operand, place int) { return 1, gate }
	return r.launches(func() ([]kernels.Launch, error) {
		return one(r.product("rnn_step", 1, own, r.before, func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value) {
			r.finish(e, sequence, i, []*kernel.Value{r.before(e, sequence, i)}, func() []*kernel.Value {
				return region(e, next, []*kernel.Value{e.Add(r.projected(e, 0, sequence, i), sums[0])})
			})
		}))
	})
}

func lstmSteps(o op.LSTMSteps, n *ir.Node) ([]kernels.Launch, error) {
	r, err := recurrenceOf(o.Steps, n, 2)
	if err != nil {
		return nil, err
	}
	peepholes := n.Arg(5)
	numbers := 5
	if peepholes != nil {
		numbers += 3
	}
	next := r.formula(numbers, func(b *ir.Builder, in []*ir.Value) []*ir.Value {
		h, c := o.Next(b, in[:4], in[4], in[5:])
		return []*ir.Value{h, c}
	})
	own := func(gate int) (operand, place int) { return 1, gate }
	return r.launches(func() ([]kernels.Launch, error) {
		return one(r.product("lstm_step", 4, own, r.before, func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value) {
			c := e.Write(n.Results[2]).At(sequence, i)
			r.finish(e, sequence, i, []*kernel.Value{r.before(e, sequence, i), c}, func() []*kernel.Value {
				in := make([]*kernel.Value, 4)
				for gate, sum := range sums {
					in[gate] = e.Add(r.projected(e, gate, sequence, i), sum)
				}
				in = append(in, c)
				for k := range numbers - len(in) {
					in = append(in, e.Read(peepholes).Get(e.Add(e.Mul(e.Int(k), e.Dim(r.hidden)), i)))
				}
				return region(e, next, in)
			})
		}))
	})
}

const (
	gruGates = 1 + iota
	gruCandidate
	gruLens
	_ // h
	gruBias
)

// gruSteps computes the steps of a GRU with two kernels for each step. The first kernel computes the update gate z,
// the reset gate r and r ⊙ h, where h is the state. The second multiplies r ⊙ h by the candidate's weights, and
// computes the candidate and the new state. If the GRU applies r after the product instead, one kernel does all of
// it.
func gruSteps(o op.GRUSteps, n *ir.Node) ([]kernels.Launch, error) {
	r, err := recurrenceOf(o.Steps, n, gruLens)
	if err != nil {
		return nil, err
	}
	gate := r.formula(1, func(b *ir.Builder, in []*ir.Value) []*ir.Value { return []*ir.Value{o.Gate(b, in[0])} })
	next := r.formula(3, func(b *ir.Builder, in []*ir.Value) []*ir.Value {
		return []*ir.Value{o.Next(b, in[0], in[1], in[2])}
	})
	// gates returns the gates z and r from the sums of the first two products.
	gates := func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value) (z, reset *kernel.Value) {
		out := make([]*kernel.Value, 2)
		for k := range out {
			out[k] = region(e, gate, []*kernel.Value{e.Add(r.projected(e, k, sequence, i), sums[k])})[0]
		}
		return out[0], out[1]
	}
	// finish stores h after a step. parts returns z, and what is added to the projected operand.
	finish := func(e *kernels.Emitter, sequence, i *kernel.Value, parts func() (z, part *kernel.Value)) {
		h := r.before(e, sequence, i)
		r.finish(e, sequence, i, []*kernel.Value{h}, func() []*kernel.Value {
			z, part := parts()
			return region(e, next, []*kernel.Value{z, e.Add(r.projected(e, 2, sequence, i), part), h})
		})
	}
	weights := func(gate int) (operand, place int) {
		if gate == 2 {
			return gruCandidate, 0
		}
		return gruGates, gate
	}
	if o.LinearBeforeReset {
		return r.launches(func() ([]kernels.Launch, error) {
			return one(r.product("gru_step", 3, weights, r.before, func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value) {
				finish(e, sequence, i, func() (z, part *kernel.Value) {
					z, reset := gates(e, sequence, i, sums)
					part = sums[2]
					if bias := n.Arg(gruBias); bias != nil {
						part = e.Add(part, e.Read(bias).Get(i))
					}
					return z, e.Mul(reset, part)
				})
			}))
		})
	}
	z, kept := &kernels.Scratch{DType: r.dtype, Shape: r.shape()}, &kernels.Scratch{DType: r.dtype, Shape: r.shape()}
	return r.launches(func() ([]kernels.Launch, error) {
		first, err := r.product("gru_gates", 2, weights, r.before, func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value) {
			update, reset := gates(e, sequence, i, sums)
			at := e.Add(e.Mul(sequence, e.Dim(r.hidden)), i)
			e.Scratch(z).Set(at, update)
			e.Scratch(kept).Set(at, e.Mul(reset, r.before(e, sequence, i)))
		})
		if err != nil {
			return nil, err
		}
		candidate := func(int) (operand, place int) { return gruCandidate, 0 }
		vector := func(e *kernels.Emitter, sequence, k *kernel.Value) *kernel.Value {
			return e.Scratch(kept).At(sequence, k)
		}
		second, err := r.product("gru_candidate", 1, candidate, vector, func(e *kernels.Emitter, sequence, i *kernel.Value, sums []*kernel.Value) {
			finish(e, sequence, i, func() (_, part *kernel.Value) { return e.Scratch(z).At(sequence, i), sums[0] })
		})
		return []kernels.Launch{first, second}, err
	})
}

package main

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/rt"

	"program/blocks"
	"program/fused"
	"program/keep"
	"program/mistaken"
	"program/ops"
	"program/trained"
)

// TestFused compares a fused operator, which takes weights, with the separate operators.
func TestFused(t *testing.T) {
	m, err := fused.Load()
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		got, err := m.Forward([]fused.X{{1, 2}, {-1, -2}, {3, 0}})
		if err != nil {
			t.Error(err)
			return
		}
		// w is 1 2 3 4 5 6, b is 0 1 -100; times 0.5, and 1 more.
		want := []fused.Y{{5.5, 7.5, 1}, {1, 1, 1}, {2.5, 4.5, 1}}
		if !slices.Equal(got, want) {
			t.Errorf("%v, %v expected", got, want)
		}
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				check()
			}
		})
	}
	all.Wait()
}

func TestFusedDoesNotAllocate(t *testing.T) {
	m, err := fused.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]fused.X, 4), make([]fused.Y, 4)
	n := testing.AllocsPerRun(100, func() {
		if err := s.Forward(y, x); err != nil {
			t.Error(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestKeep runs a model whose operator determines the number of rows.
func TestKeep(t *testing.T) {
	m, err := keep.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, firsts := range [][]float32{{1, -1, 1, 0, 2}, {-1, -1}, {3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {}} {
		x := rt.Tensor[float32]{Shape: []int{len(firsts), 3}}
		var at []int64
		var sums []float32
		for i, v := range firsts {
			x.Data = append(x.Data, v, float32(i), 10)
			if v > 0 {
				at, sums = append(at, int64(i)), append(sums, v+float32(i)+10)
			}
		}
		got, err := m.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.At.Data, at) || !slices.Equal(got.Sums.Data, sums) || !slices.Equal(got.At.Shape, []int{len(at)}) || !slices.Equal(got.Rows.Shape, []int{len(at), 3}) {
			t.Errorf("%v: %v, sums %v and %v expected", firsts, got, at, sums)
		}
	}
}

// TestBlocks runs a model that repeats an operator in many layers with different weights. The
// layers are calls of one function.
func TestBlocks(t *testing.T) {
	m, err := blocks.Load()
	if err != nil {
		t.Fatal(err)
	}
	// The layers add 0 together.
	got, err := m.Forward([]blocks.X{{1, 2, 3, 4}})
	if err != nil || got[0] != (blocks.Y{1, 2, 3, 4}) {
		t.Errorf("%v: %v", got, err)
	}
	_, err = m.Forward([]blocks.X{{1}, {500}})
	var node *rt.NodeError
	if !errors.Is(err, ops.ErrMany) || !errors.As(err, &node) || !strings.Contains(node.Node, "double") {
		t.Errorf("error %v", err)
	}
	_, err = m.Forward([]blocks.X{{1e9}})
	var panicked *rt.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(err.Error(), "acme.Double: panic: too large") {
		t.Errorf("error %v", err)
	}
}

func TestMistaken(t *testing.T) {
	m, err := mistaken.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Forward(&mistaken.X{})
	if err == nil || err.Error() != `node "/node": acme.Mistaken: operand 0 is f32, not f64` {
		t.Errorf("error %v", err)
	}
}

// TestTrained compares the gradients of a trainer with finite differences of the loss. A custom
// function computes some of the gradients.
func TestTrained(t *testing.T) {
	m, err := trained.Load()
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := m.NewTrainer(trained.TrainerOptions{Batch: 3})
	if err != nil {
		t.Fatal(err)
	}
	x, target := []trained.X{{1, 2}, {-1, -2}, {3, 0}}, []trained.Target{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
	p := trainer.Params()
	loss := func() float64 {
		r, err := trainer.Step(x, target)
		if err != nil {
			t.Fatal(err)
		}
		p.UseUp()
		return float64(r.Loss)
	}
	loss()
	if len(p.Items) != 2 {
		t.Fatalf("the parameters are %v", p.Items)
	}
	for i, item := range p.Items {
		w, g := p.Value(i), slices.Clone(p.Gradient(i))
		for k := range w {
			const h = 1.0 / 64
			at := w[k]
			w[k] = at + h
			up := loss()
			w[k] = at - h
			down := loss()
			w[k] = at
			if slope := (up - down) / (2 * h); math.Abs(slope-float64(g[k])) > 1e-3*(1+math.Abs(slope)) {
				t.Errorf("%s[%d]: the gradient is %g, the slope %g", item.Name, k, g[k], slope)
			}
		}
	}
}

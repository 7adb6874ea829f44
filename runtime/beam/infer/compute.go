package infer

import (
	"context"
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// Compute computes items, and returns the result or the error of each. Items of equal shapes are one batch if the
// model has a batch axis with a symbol. If a batch fails, its items are computed one by one, so that an item does
// not fail because of another.
func (l *Loaded) Compute(ctx context.Context, items []Item) ([]Item, []error) {
	out, errs := make([]Item, len(items)), make([]error, len(items))
	in := make([][]untyped.Tensor, len(items))
	var batches [][]int
	places := map[string]int{}
	for i, it := range items {
		if in[i], errs[i] = l.tensors(it); errs[i] != nil {
			continue
		}
		if errs[i] = untyped.CheckShapes(in[i]); errs[i] != nil {
			continue
		}
		shapes := ""
		for _, t := range in[i] {
			shapes += fmt.Sprint(t.Shape)
		}
		at, found := places[shapes]
		if !found || !l.method.Batch {
			at = len(batches)
			places[shapes] = at
			batches = append(batches, nil)
		}
		batches[at] = append(batches[at], i)
	}
	for _, batch := range batches {
		l.batch(ctx, batch, items, in, out, errs)
	}
	return out, errs
}

// batch computes the items with these indices.
func (l *Loaded) batch(ctx context.Context, indices []int, items []Item, in [][]untyped.Tensor, out []Item, errs []error) {
	members := make([][]untyped.Tensor, len(indices))
	for k, i := range indices {
		members[k] = in[i]
	}
	results, err := l.run(ctx, join(members))
	if err != nil && len(indices) > 1 && ctx.Err() == nil {
		for one := range slices.Chunk(indices, 1) {
			l.batch(ctx, one, items, in, out, errs)
		}
		return
	}
	for k, i := range indices {
		if errs[i] = err; err == nil {
			out[i], errs[i] = l.part(results, k, len(indices), items[i].Key)
		}
	}
}

func (l *Loaded) run(ctx context.Context, in []untyped.Tensor) (out []untyped.Tensor, err error) {
	s, put, err := l.session(ctx)
	if err != nil {
		return nil, err
	}
	defer put()
	defer rt.Recover(l.method.Label, &err)
	if l.method.Stateful {
		s.Reset()
	}
	return s.Run(ctx, l.method, in)
}

package onnx

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// maxConstant is the maximum number of elements of an integer or bool initializer that becomes a
// constant in the IR. Larger initializers become weights. Strings and empty initializers become
// constants.
//
// A float initializer becomes a weight if it has more than one element, and a constant if it has
// rank 0. With one element and at least one axis, it becomes a weight only if an operator reads it
// as a parameter; see [op.IsParameter].
const maxConstant = 256

const (
	// maxLooked is the maximum number of elements that all import functions of a model together may
	// read; more are an error. An element of an attribute counts each time it is read. An element
	// of a weight counts once.
	maxLooked = 1 << 25
	// maxKnown is the maximum number of elements of a weight that import functions may read. To
	// them, a larger weight is not known.
	maxKnown = 1 << 20
)

type weights struct {
	of      map[*wire.Tensor]*ir.Weight
	named   map[string]*ir.Weight
	next    map[string]int
	outside map[*ir.Weight]*wire.Tensor // tensors whose data has not been read yet
	decoded map[string]*ir.Tensor
	// computed caches small tensors computed from constants.
	computed map[*ir.Value]*ir.Tensor
	// single holds the initializers that became constants because they have one element.
	single map[*ir.Value]singleTensor
	looked int
}

type singleTensor struct {
	*wire.Tensor
	name string
}

func newWeights() weights {
	return weights{
		of: map[*wire.Tensor]*ir.Weight{}, named: map[string]*ir.Weight{}, next: map[string]int{},
		outside: map[*ir.Weight]*wire.Tensor{}, decoded: map[string]*ir.Tensor{}, computed: map[*ir.Value]*ir.Tensor{},
		single: map[*ir.Value]singleTensor{},
	}
}

func (w *weights) name(hint string) string {
	name := hint
	for w.named[name] != nil {
		w.next[hint]++
		name = hint + "." + strconv.Itoa(w.next[hint])
	}
	return name
}

// look deducts n elements from maxLooked, the budget of all import functions. It returns an error
// if the budget is exhausted.
func (im *importer) look(n int) error {
	if n > maxLooked-im.weights.looked {
		return fmt.Errorf("more than %d elements of attributes", maxLooked)
	}
	im.weights.looked += n
	return nil
}

func (im *importer) initializer(b *ir.Builder, t *wire.Tensor, name string) (*ir.Value, error) {
	typ, err := tensorType(t)
	if err != nil {
		return nil, err
	}
	b.At("")
	n, _ := typ.Elems().Int()
	if n > 1 && (n > maxConstant || typ.DType.IsFloat()) && typ.DType != ir.String {
		return im.load(b, t, typ, name)
	}
	tensor, err := im.tensor(t)
	if err != nil {
		return nil, err
	}
	v := named(b, b.Const(tensor), name)
	if n == 1 && typ.Rank() > 0 && typ.DType.IsFloat() {
		im.weights.single[v] = singleTensor{t, name}
	}
	return v, nil
}

// loadSingle finds the constants with one element that an operator takes as a parameter. It turns
// each into the load of a weight.
func (im *importer) loadSingle(f *ir.Func) error {
	for n := range f.All() {
		for i, a := range n.Args {
			from := op.Moved(a)
			t, ok := im.weights.single[from]
			if !ok || !op.IsParameter(n, i) {
				continue
			}
			w, err := im.weight(t.Tensor, from.Type, t.name)
			if err != nil {
				return err
			}
			from.Def.Op = ir.Load{Name: w.Name, Type: w.Type}
		}
	}
	return nil
}

// load appends a node that loads the weight of t, and returns its result; see [importer.weight].
// The result gets a name that is made from `name`.
func (im *importer) load(b *ir.Builder, t *wire.Tensor, typ ir.Type, name string) (*ir.Value, error) {
	w, err := im.weight(t, typ, name)
	if err != nil {
		return nil, err
	}
	return named(b, b.Node(ir.Load{Name: w.Name, Type: typ}), name), nil
}

// weight returns the weight of the IR for t. The first call for t creates it. Its name is `name`,
// with a number if another weight has that name. Data in the model's file is decoded at once. Data
// in another file is read later, by [importer.readWeight].
func (im *importer) weight(t *wire.Tensor, typ ir.Type, name string) (*ir.Weight, error) {
	w := im.weights.of[t]
	if w == nil {
		w = &ir.Weight{Name: im.weights.name(name), Type: typ}
		var err error
		if t.Outside {
			err = im.outside.check(t)
			im.weights.outside[w] = t
		} else {
			w.Data, err = decoded(t, typ)
		}
		if err != nil {
			return nil, err
		}
		im.weights.of[t], im.weights.named[w.Name] = w, w
		im.Module.Weights = append(im.Module.Weights, w)
	}
	return w, nil
}

// decodedWeight returns the elements of a weight. It returns nil if the weight has more than
// maxKnown elements.
func (im *importer) decodedWeight(name string) (*ir.Tensor, error) {
	w := im.weights.named[name]
	n, _ := w.Type.Elems().Int()
	if n > maxKnown {
		return nil, nil
	}
	if t := im.weights.decoded[name]; t != nil {
		return t, nil
	}
	if err := im.look(n); err != nil {
		return nil, err
	}
	if err := im.readWeight(w); err != nil {
		return nil, err
	}
	t, err := w.Tensor()
	im.weights.decoded[name] = t
	return t, err
}

func (im *importer) readWeight(w *ir.Weight) error {
	t := im.weights.outside[w]
	if t == nil {
		return nil
	}
	packed, err := im.outside.read(t)
	if err != nil {
		return err
	}
	w.Data = spread(packed, w.Type)
	delete(im.weights.outside, w)
	return nil
}

// finishWeights drops the weights that f does not use, and reads the other weights. If the import
// has had problems so far, it returns an error that lists them.
func (im *importer) finishWeights(f *ir.Func) error {
	used := map[string]bool{}
	for n := range f.All() {
		if l, ok := n.Op.(ir.Load); ok {
			used[l.Name] = true
		}
	}
	im.Module.Weights = slices.DeleteFunc(im.Module.Weights, func(w *ir.Weight) bool { return !used[w.Name] })
	for _, w := range im.Module.Weights {
		if err := im.readWeight(w); err != nil {
			im.problems.add("initializer %s: %v", quote(w.Name), err)
		}
	}
	return im.problems.err()
}

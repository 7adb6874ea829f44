package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// trial is a set of arguments and their reference results, for one call or for several calls that
// pass state on.
type trial struct {
	name   string
	inputs []*onnx.Value
	// frames are the arguments that differ between calls, by input: tensors with an additional
	// first axis for the calls.
	frames map[int]*ir.Tensor
	calls  int
	// state maps outputs to the inputs of the next call.
	state map[int]int
	wants []want
}

type want struct {
	name string
	// output is the index of the output.
	output int
	// value is the output that a data set has, and nil for a manifest.
	value *onnx.Value
	dtype ir.DType
	shape []int
	parts []part
	stats *stats
	// last says that this is the output of the last call. Otherwise it has the outputs of all calls
	// of a stream, stacked.
	last bool
}

// part holds some elements of an output: the elements 0, stride, 2·stride, ….
type part struct {
	stride int
	values *ir.Tensor
}

func (c Case) trials(p *ports) ([]trial, error) {
	if isFile(filepath.Join(c.Dir, "ref", "manifest.json")) {
		return manifestTrials(c.Dir, p)
	}
	var out []trial
	for _, dir := range dataSets(c.Dir) {
		t, err := dataSetTrial(dir, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(dir), err)
		}
		out = append(out, t)
	}
	return out, nil
}

// dataSetTrial reads a folder of input_0.pb, output_0.pb and so on.
func dataSetTrial(dir string, p *ports) (trial, error) {
	t := trial{name: filepath.Base(dir), calls: 1}
	var types []ir.Type
	var names []string
	for _, v := range p.params {
		types, names = append(types, v.Type), append(names, v.Name)
	}
	values, order, err := readFiles(dir, "input", types, names)
	if err != nil {
		return t, err
	}
	if len(values) != len(p.params) {
		return t, fmt.Errorf("%d inputs, the model has %d", len(values), len(p.params))
	}
	t.inputs = make([]*onnx.Value, len(values))
	for i, v := range values {
		t.inputs[order[i]] = v
	}
	types, names = nil, nil
	for _, r := range p.results {
		types, names = append(types, r.typ), append(names, r.name)
	}
	values, order, err = readFiles(dir, "output", types, names)
	if err != nil {
		return t, err
	}
	for i, v := range values {
		w := want{name: names[order[i]], output: order[i], value: v}
		if v.Tensor != nil {
			w.dtype, w.shape = v.Tensor.DType, v.Tensor.Shape
			w.parts = []part{{1, v.Tensor}}
		}
		t.wants = append(t.wants, w)
	}
	return t, nil
}

// readFiles reads the values in kind_0.pb, kind_1.pb and so on. values[i] is the value in file i, and order[i] is the
// index of its name in `names`. A file may contain the name of its value. order follows the names in the files on two
// conditions: they are different elements of `names`, and each types[order[i]] has the kind of types[i]. Otherwise
// order[i] is i.
func readFiles(dir, kind string, types []ir.Type, names []string) (values []*onnx.Value, order []int, err error) {
	named := true
	var byName []int
	for i := 0; ; i++ {
		path := filepath.Join(dir, fmt.Sprintf("%s_%d.pb", kind, i))
		if _, err := os.Stat(path); err != nil {
			break
		}
		if i >= len(types) {
			return nil, nil, fmt.Errorf("%s: the model has %d", filepath.Base(path), len(types))
		}
		v, name, err := onnx.ReadValue(path, types[i])
		if err != nil {
			return nil, nil, err
		}
		at := slices.Index(names, name)
		named = named && at >= 0 && !slices.Contains(byName, at) && types[at].Kind == types[i].Kind
		values, order, byName = append(values, v), append(order, i), append(byName, at)
	}
	if named {
		order = byName
	}
	return values, order, nil
}

// Package lora handles the low-rank updates of weights that layers of nn.NewLoRA learn. [Updates]
// takes the updates out, to save them alone. [Merge] adds them to the weights.
//
// The names are the same as in the library PEFT. A layer called "fc" has the tensors
// fc.base_layer.weight [out, in], fc.lora_A.weight [rank, in], and fc.lora_B.weight [out, rank].
// Its other tensors, such as the bias, are below fc.base_layer too.
package lora

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

const base, down, up = ".base_layer.", ".lora_A.weight", ".lora_B.weight"

// Updates returns the updates of w alone: the tensors whose names end in lora_A.weight and
// lora_B.weight. With keys.AllowMissing, a generated model loads the updates and keeps its other
// weights. The result shares memory with w. It returns the error of w, and an error if w has no
// such tensors.
func Updates(w *rt.Weights) (*rt.Weights, error) {
	var names []string
	for _, name := range w.Names() {
		if strings.HasSuffix(name, down) || strings.HasSuffix(name, up) {
			names = append(names, name)
		}
	}
	if err := w.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("lora: no tensor is called lora_A.weight or lora_B.weight")
	}
	out := rt.NewWeights()
	out.Share(w, names...)
	return out, out.Err()
}

// Merge returns the weights of a model, with the updates added to the weights of the layers. In a
// layer with an update, fc.weight is fc.base_layer.weight + alpha/rank·B·A, and fc.base_layer.bias
// becomes fc.bias. Tensors of other layers are as in w, whose memory the result shares. Updates and
// the weights that they change must be f32. Merge returns the error of w. It returns an error if
// there is no update, or if updates are incomplete, are not f32 or do not fit in shape. The error
// joins the errors of all updates.
func Merge(w *rt.Weights, alpha float64) (*rt.Weights, error) {
	var errs []error
	merged := map[string][]float32{}
	for _, name := range w.Names() {
		layer, is := strings.CutSuffix(name, down)
		if !is {
			continue
		}
		sum, err := mergedWeight(w, layer, alpha)
		if err != nil {
			errs = append(errs, fmt.Errorf("lora: %.100q: %w", layer, err))
		}
		merged[layer] = sum
	}
	if err := w.Err(); err != nil {
		return nil, err
	}
	if len(merged) == 0 {
		errs = append(errs, errors.New("lora: no tensor is called lora_A.weight"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out := rt.NewWeights()
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		layer, rest, is := strings.Cut(name, base)
		sum, updated := merged[layer]
		switch {
		case is && updated && rest == "weight":
			rt.Add(out, layer+".weight", sum, info.Shape...)
		case is && updated:
			out.AddRaw(layer+"."+rest, info.DType, info.Shape, w.Raw(name))
		case merged[strings.TrimSuffix(name, down)] != nil || merged[strings.TrimSuffix(name, up)] != nil:
		default:
			out.AddRaw(name, info.DType, info.Shape, w.Raw(name))
		}
	}
	rt.Keep(out, w)
	return out, errors.Join(w.Err(), out.Err())
}

// mergedWeight returns the weight of a layer plus its low-rank update.
func mergedWeight(w *rt.Weights, layer string, alpha float64) ([]float32, error) {
	shapes := map[string][]int{}
	for _, name := range []string{base + "weight", down, up} {
		info, ok := w.Info(layer + name)
		switch {
		case !ok:
			return nil, fmt.Errorf("%s is missing", name[1:])
		case !strings.EqualFold(info.DType, "f32") || len(info.Shape) != 2:
			return nil, fmt.Errorf("%s is %s%v: a matrix of f32 expected", name[1:], info.DType, info.Shape)
		}
		shapes[name] = info.Shape
	}
	rank, in, out := shapes[down][0], shapes[down][1], shapes[up][0]
	if rank < 1 || shapes[up][1] != rank || !slices.Equal(shapes[base+"weight"], []int{out, in}) {
		return nil, fmt.Errorf("shapes %v of the weight, %v of A and %v of B do not fit", shapes[base+"weight"], shapes[down], shapes[up])
	}
	weight := slices.Clone(rt.WeightsOf[float32](w, layer+base+"weight", out, in))
	a, b := rt.WeightsOf[float32](w, layer+down, rank, in), rt.WeightsOf[float32](w, layer+up, out, rank)
	if err := w.Err(); err != nil {
		return nil, err
	}
	scale := alpha / float64(rank)
	for i := range out {
		row := weight[i*in:][:in]
		for k := range row {
			sum := 0.0
			for r := range rank {
				sum += float64(b[i*rank+r]) * float64(a[r*in+k])
			}
			row[k] = float32(float64(row[k]) + scale*sum)
		}
	}
	return weight, nil
}

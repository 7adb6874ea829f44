package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

func importMeanVarianceNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axes, divides := []int{0, 2, 3}, true
	if c.Opset() >= 9 {
		axes = c.Ints("axes", axes)
	} else {
		if c.Int("across_channels", 0) != 0 {
			axes = []int{0, 1, 2, 3}
		}
		divides = c.Int("normalize_variance", 1) != 0
	}
	axes, err := axesFromFront(axes, x.Type.Rank())
	if err != nil {
		return nil, err
	}
	slices.Sort(axes)
	mean := Reduce{Kind: ReduceMean, Axes: axes, KeepDims: true}
	d := wide(x.Type.DType)
	v := ConvertTo(b, x, d)
	v = b.Node(Sub{}, v, b.Node(mean, v))
	if !divides {
		return []*ir.Value{ConvertTo(b, v, x.Type.DType)}, nil
	}
	deviation := b.Node(Sqrt{}, b.Node(mean, b.Node(Mul{}, v, v)))
	y := b.Node(Div{}, v, b.Node(Add{}, deviation, b.Scalar(d, 1e-9)))
	return []*ir.Value{ConvertTo(b, y, x.Type.DType)}, nil
}

package main

import (
	"fmt"
	"math"
)

// spread returns a bound b for random weights. A product with a matrix of `fan` rows, whose weights are uniform in
// [-b, b], keeps the mean square of its input.
func spread(fan int) float64 { return math.Sqrt(3 / float64(fan)) }

func matmul(m, k, n int) *graph {
	g := &graph{opset: 17}
	g.input("x", m, k)
	b := spread(k)
	g.node("MatMul", "y", []string{"x", g.weight("w", -b, b, k, n)})
	g.output("y", m, n)
	return g
}

// layer is the shape of a convolution over a square image.
type layer struct{ in, out, side, kernel, stride, groups int }

// conv returns one convolution with a bias and a rectifier. Its output has side/stride rows and columns, rounded up.
func conv(l layer) *graph {
	g := &graph{opset: 17}
	g.input("x", 1, l.in, l.side, l.side)
	g.conv("conv", "x", l)
	g.node("Relu", "y", []string{"conv"})
	side := (l.side + l.stride - 1) / l.stride
	g.output("y", 1, l.out, side, side)
	return g
}

func (g *graph) conv(name, x string, l layer) string {
	b := math.Sqrt2 * spread(l.in/l.groups*l.kernel*l.kernel)
	w := g.weight(name+".weight", -b, b, l.out, l.in/l.groups, l.kernel, l.kernel)
	pad := l.kernel / 2
	return g.node("Conv", name, []string{x, w, g.weight(name+".bias", -.1, .1, l.out)},
		attr{"group", l.groups},
		attr{"kernel_shape", []int{l.kernel, l.kernel}},
		attr{"pads", []int{pad, pad, pad, pad}},
		attr{"strides", []int{l.stride, l.stride}})
}

// mlp returns a stack of dense layers with rectifiers between them. widths[0] is the width of the input.
func mlp(widths ...int) *graph {
	g := &graph{opset: 17}
	g.input("x", 1, widths[0])
	x := "x"
	for i, out := range widths[1:] {
		in, last := widths[i], i == len(widths)-2
		b := math.Sqrt2 * spread(in)
		name := fmt.Sprintf("dense%d", i+1)
		args := []string{x, g.weight(name+".weight", -b, b, out, in), g.weight(name+".bias", -.1, .1, out)}
		x = g.node("Gemm", name, args, attr{"transB", 1})
		if !last {
			x = g.node("Relu", fmt.Sprintf("relu%d", i+1), []string{x})
		}
	}
	g.output(x, 1, widths[len(widths)-1])
	return g
}

func cnn() *graph {
	g := &graph{opset: 17}
	g.input("x", 1, 1, 28, 28)
	x := g.conv("conv1", "x", layer{1, 8, 28, 5, 1, 1})
	x = g.pool("pool1", g.node("Relu", "relu1", []string{x}), 2)
	x = g.conv("conv2", x, layer{8, 16, 14, 5, 1, 1})
	x = g.pool("pool2", g.node("Relu", "relu2", []string{x}), 3)
	x = g.node("Flatten", "flat", []string{x})
	b := spread(256)
	g.node("Gemm", "logits", []string{x, g.weight("dense.weight", -b, b, 10, 256), g.weight("dense.bias", -.1, .1, 10)},
		attr{"transB", 1})
	g.output("logits", 1, 10)
	return g
}

func (g *graph) pool(name, x string, size int) string {
	return g.node("MaxPool", name, []string{x}, attr{"kernel_shape", []int{size, size}}, attr{"strides", []int{size, size}})
}

package gen_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

func testHostileTrees(t *testing.T) {
	x := floats(1, 2, 3, math.NaN()).Reshape(2, 2)
	// of is a regressor of one tree of three nodes, changed by attributes of the same names.
	of := func(changed ...onnxtest.Attr) hostile {
		attrs := []onnxtest.Attr{
			attr("nodes_treeids", []int{0, 0, 0}), attr("nodes_nodeids", []int{0, 1, 2}), attr("nodes_featureids", []int{1, 0, 0}),
			attr("nodes_modes", []string{"BRANCH_LEQ", "LEAF", "LEAF"}), attr("nodes_truenodeids", []int{1, 0, 0}), attr("nodes_falsenodeids", []int{2, 0, 0}),
			attr("nodes_values", []float64{0.5, 0, 0}), attr("target_ids", []int{0, 0}), attr("target_nodeids", []int{1, 2}), attr("target_treeids", []int{0, 0}),
			attr("target_weights", []float64{1, 2}), attr("n_targets", 1),
		}
		for _, c := range changed {
			for i, a := range attrs {
				if a.Name == c.Name {
					attrs[i] = c
				}
			}
		}
		m := onnxtest.New(21).Import("ai.onnx.ml", 3).Input("x", ir.F32, "N", 2).Output("y", ir.F32, "N", "T")
		return hostile{m.Node("node", "ai.onnx.ml:TreeEnsembleRegressor", list("x"), list("y"), attrs...), []*ir.Tensor{x}, "model.onnx: node 0"}
	}
	right := of()
	right.want = "f32[2 1]"
	features := of(attr("nodes_featureids", []int{5, 0, 0}))
	many := of(attr("n_targets", math.MaxInt64))
	branches := of(attr("nodes_modes", []string{"BRANCH_LEQ", "BRANCH_LEQ", "LEAF"}), attr("nodes_truenodeids", []int{1, 0, 0}), attr("nodes_falsenodeids", []int{2, 2, 0}))
	const n = 20_000 // nodes of a chain
	chain := []onnxtest.Attr{attr("nodes_treeids", make([]int, n)), attr("nodes_nodeids", make([]int, n)), attr("nodes_featureids", make([]int, n)), attr("nodes_modes", make([]string, n)),
		attr("nodes_truenodeids", make([]int, n)), attr("nodes_falsenodeids", make([]int, n)), attr("nodes_values", make([]float64, n)), attr("target_nodeids", []int{n - 1, n - 1})}
	for i := range n {
		chain[1].Value.([]int)[i], chain[4].Value.([]int)[i], chain[5].Value.([]int)[i], chain[3].Value.([]string)[i] = i, min(i+1, n-1), n-1, "BRANCH_LT"
	}
	chain[3].Value.([]string)[n-1] = "LEAF"
	deep := of(chain...)
	deep.want = "f32[2 1]"
	testHostile(t, map[string]hostile{
		"a tree":                           right,
		"a node that is its own child":     of(attr("nodes_truenodeids", []int{0, 0, 0})),
		"a cycle":                          branches,
		"a child that is not there":        of(attr("nodes_falsenodeids", []int{math.MaxInt64, 0, 0})),
		"a child below 0":                  of(attr("nodes_falsenodeids", []int{math.MinInt64, 0, 0})),
		"a feature that is not there":      features,
		"a feature of 2^62":                of(attr("nodes_featureids", []int{1 << 62, 0, 0})),
		"a feature below 0":                of(attr("nodes_featureids", []int{-1, 0, 0})),
		"two nodes of a number":            of(attr("nodes_nodeids", []int{0, 1, 1})),
		"a target that is not there":       of(attr("target_ids", []int{0, 1})),
		"a target below 0":                 of(attr("target_ids", []int{0, -1})),
		"a leaf that is not there":         of(attr("target_nodeids", []int{1, 3})),
		"2^63-1 targets":                   many,
		"no targets":                       of(attr("n_targets", 0)),
		"lists of different lengths":       of(attr("nodes_values", []float64{0.5})),
		"no nodes":                         of(attr("nodes_treeids", []int{}), attr("nodes_nodeids", []int{}), attr("nodes_featureids", []int{}), attr("nodes_modes", []string{}), attr("nodes_truenodeids", []int{}), attr("nodes_falsenodeids", []int{}), attr("nodes_values", []float64{})),
		"a mode that is none":              of(attr("nodes_modes", []string{"BRANCH_LEQ", "LEAF", "\x00"})),
		fmt.Sprintf("a chain of %d", n):    deep,
		"a threshold that is not a number": {of(attr("nodes_values", []float64{math.NaN(), 0, 0})).model, []*ir.Tensor{x}, "f32[2 1]"},
		"a leaf that is given many times":  {of(attr("target_nodeids", []int{1, 1})).model, []*ir.Tensor{x}, "f32[2 1]"},
	})
}

func testHostileAttributes(t *testing.T) {
	x := floats(1, 2, 3, 4)
	square := x.Reshape(2, 2)
	einsum := func(equation string, operands int) hostile {
		m := onnxtest.New(21).Output("y", ir.F32, "A")
		var names []string
		var args []*ir.Tensor
		for i := range operands {
			names, args = append(names, fmt.Sprint("x", i)), append(args, square)
			m.Input(names[i], ir.F32, 2, 2)
		}
		return hostile{m.Node("node", "Einsum", names, list("y"), attr("equation", equation)), args, "node"}
	}
	ok := func(h hostile) hostile { h.want = ""; return h }
	terms := func(n int) (s []string) {
		for i := range n {
			s = append(s, string(rune('a'+i%26))+string(rune('a'+(i+1)%26)))
		}
		return s
	}
	alphabet := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wide := onnxtest.New(21).Output("y", ir.F32)
	var dims []any
	for range alphabet {
		dims = append(dims, 1)
	}
	wide.Input("x", ir.F32, dims...).Node("node", "Einsum", list("x"), list("y"), attr("equation", alphabet+"->"))
	ones := make([]int, len(alphabet))
	for i := range ones {
		ones[i] = 1
	}
	tests := map[string]hostile{
		"einsum: nothing":                   einsum("", 1),
		"einsum: commas":                    einsum(strings.Repeat(",", 100_000), 2),
		"einsum: thousands of labels":       einsum(strings.Repeat("a", 100_000), 1),
		"einsum: arrows":                    einsum("ij->->", 1),
		"einsum: two ellipses":              einsum("......", 1),
		"einsum: dots":                      einsum("i..j->ij", 1),
		"einsum: other labels":              einsum("éj->j", 1),
		"einsum: NUL":                       einsum("i\x00->i", 1),
		"einsum: a result's label":          einsum("ij->k", 1),
		"einsum: labels twice":              einsum("ij->ii", 1),
		"einsum: a term of its own":         ok(einsum(strings.Join(terms(40), ",")+"->a", 40)),
		"einsum: an outer product of 2^60":  ok(einsum(strings.Join(strings.Split(alphabet[:50], ""), "X,")+"X->"+alphabet[:50], 50)),
		"einsum: 200 operands":              ok(einsum(strings.Join(terms(200), ","), 200)),
		"einsum: an axis for every letter":  {wide, []*ir.Tensor{ir.NewTensor(ir.F32, ones...)}, "f32[]"},
		"einsum: extents that differ":       {onnxtest.New(21).Input("x", ir.F32, 2, 3).Output("y", ir.F32, "A").Node("node", "Einsum", list("x"), list("y"), attr("equation", "ii->i")), []*ir.Tensor{ir.NewTensor(ir.F32, 2, 3)}, "node"},
		"quantised: a zero point of f32":    {onnxtest.New(21).Input("x", ir.F32, 4).Input("s", ir.F32).Input("z", ir.F32).Output("y", ir.F32, 4).Node("node", "QuantizeLinear", list("x", "s", "z"), list("y")), []*ir.Tensor{x, floats(1).Reshape(), floats(1).Reshape()}, "node"},
		"quantised: many zero points":       {onnxtest.New(21).Input("x", ir.F32, 4).Input("s", ir.F32).Input("z", ir.U8, 100).Output("y", ir.U8, 4).Node("node", "QuantizeLinear", list("x", "s", "z"), list("y")), []*ir.Tensor{x, floats(1).Reshape(), ir.NewTensor(ir.U8, 100)}, "node"},
		"quantised: blocks of MinInt64":     {onnxtest.New(21).Input("x", ir.F32, 4).Input("s", ir.F32, 4).Output("y", ir.U8, 4).Node("node", "QuantizeLinear", list("x", "s"), list("y"), attr("block_size", math.MinInt64)), []*ir.Tensor{x, x}, "node"},
		"quantised: blocks of MaxInt64":     {onnxtest.New(21).Input("x", ir.F32, 4).Input("s", ir.F32, 1).Output("y", ir.U8, 4).Node("node", "QuantizeLinear", list("x", "s"), list("y"), attr("block_size", math.MaxInt64), attr("axis", 0)), []*ir.Tensor{x, floats(1)}, ""},
		"quantised: an axis of MinInt64":    {onnxtest.New(21).Input("x", ir.F32, 4).Input("s", ir.F32, 4).Output("y", ir.U8, 4).Node("node", "QuantizeLinear", list("x", "s"), list("y"), attr("axis", math.MinInt64)), []*ir.Tensor{x, x}, "node"},
		"quantised: a product of nothing":   {onnxtest.New(21).Input("x", ir.U8, 2, 0).Input("w", ir.U8, 0, 3).Output("y", ir.I32, 2, 3).Node("node", "MatMulInteger", list("x", "w"), list("y")), []*ir.Tensor{ir.NewTensor(ir.U8, 2, 0), ir.NewTensor(ir.U8, 0, 3)}, "i32[2 3]"},
		"quantised: zero points of columns": {onnxtest.New(21).Input("x", ir.U8, 2, 2).Input("w", ir.U8, 2, 3).Input("a", ir.U8, 7).Input("b", ir.U8, 9).Output("y", ir.I32, 2, 3).Node("node", "MatMulInteger", list("x", "w", "a", "b"), list("y")), []*ir.Tensor{ir.NewTensor(ir.U8, 2, 2), ir.NewTensor(ir.U8, 2, 3), ir.NewTensor(ir.U8, 7), ir.NewTensor(ir.U8, 9)}, "node"},
		"a convolution of no groups":        {onnxtest.New(21).Input("x", ir.F32, 1, 2, 2, 1).Input("w", ir.F32, 2, 2, 1, 1).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "Conv", list("x", "w"), list("y"), attr("group", 0)), []*ir.Tensor{x.Reshape(1, 2, 2, 1), x.Reshape(2, 2, 1, 1)}, "node"},
		"a convolution of wide steps":       {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("w", ir.F32, 1, 1, 2, 2).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "Conv", list("x", "w"), list("y"), attr("dilations", []int{1 << 62, 1 << 62}), attr("strides", []int{1 << 62, 1 << 62})), []*ir.Tensor{x.Reshape(1, 1, 2, 2), x.Reshape(1, 1, 2, 2)}, "node"},
		"a convolution of wide pads":        {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("w", ir.F32, 1, 1, 2, 2).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "Conv", list("x", "w"), list("y"), attr("pads", []int{1 << 40, 1 << 40, 1 << 40, 1 << 40})), []*ir.Tensor{x.Reshape(1, 1, 2, 2), x.Reshape(1, 1, 2, 2)}, ""},
		"a pool of 2^40":                    {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "MaxPool", list("x"), list("y"), attr("kernel_shape", []int{1 << 40, 1 << 40}), attr("pads", []int{1 << 40, 1 << 40, 1 << 40, 1 << 40})), []*ir.Tensor{x.Reshape(1, 1, 2, 2)}, ""},
		"an average of 2^20 pads":           {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "AveragePool", list("x"), list("y"), attr("kernel_shape", []int{1 << 20, 1 << 20}), attr("pads", []int{1<<20 - 2, 1<<20 - 2, 0, 0}), attr("count_include_pad", 1)), []*ir.Tensor{x.Reshape(1, 1, 2, 2)}, ""},
		"a recurrent network of 2^40":       {onnxtest.New(21).Input("x", ir.F32, 1, 2, 2).Input("w", ir.F32, 1, 4, 2).Input("r", ir.F32, 1, 4, 1).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "LSTM", list("x", "w", "r"), list("y"), attr("hidden_size", 1<<40)), []*ir.Tensor{x.Reshape(1, 2, 2), ir.NewTensor(ir.F32, 1, 4, 2), ir.NewTensor(ir.F32, 1, 4, 1)}, "node"},
		"a window of 2^40 frames":           {onnxtest.New(21).Input("x", ir.F32, 1, 4).Initializer("s", number(1)).Initializer("l", number(1<<40)).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "STFT", list("x", "s", "", "l"), list("y")), []*ir.Tensor{x.Reshape(1, 4)}, "node"},
		"a transform of 2^40":               {onnxtest.New(21).Input("x", ir.F32, 1, 4, 1).Input("n", ir.I64).Output("y", ir.F32, "A", "B", "C").Node("node", "DFT", list("x", "n"), list("y")), []*ir.Tensor{x.Reshape(1, 4, 1), number(1 << 40)}, ""},
		"mel weights of 2^40":               {onnxtest.New(21).Input("n", ir.I64).Input("l", ir.I64).Input("r", ir.I64).Input("a", ir.F32).Input("b", ir.F32).Output("y", ir.F32, "A", "B").Node("node", "MelWeightMatrix", list("n", "l", "r", "a", "b"), list("y")), []*ir.Tensor{number(1 << 40), number(1 << 40), number(0), floats(math.NaN()).Reshape(), floats(-1).Reshape()}, ""},
		"blocks to images of 2^40":          {onnxtest.New(21).Input("x", ir.F32, 1, 4, 1).Input("s", ir.I64, 2).Input("k", ir.I64, 2).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "Col2Im", list("x", "s", "k"), list("y")), []*ir.Tensor{x.Reshape(1, 4, 1), int64s(1<<40, 1<<40), int64s(2, 2)}, ""},
		"an input of 2^40":                  {onnxtest.New(21).Input("x", ir.F32, 1<<40).Output("y", ir.F32, 1<<40).Node("node", "Relu", list("x"), list("y")), []*ir.Tensor{x}, "limit"},
		"an output of 2^60":                 {onnxtest.New(21).Input("x", ir.F32, 1).Initializer("s", int64s(1<<60)).Output("y", ir.F32, 1<<60).Node("node", "Expand", list("x", "s"), list("y")), []*ir.Tensor{floats(1)}, "limit"},
		"an array of 64 axes":               {onnxtest.New(21).Input("x", ir.F32, dims...).Input("z", ir.F32, append([]any{"N"}, dims[1:]...)...).Output("y", ir.F32, append([]any{"N"}, dims[1:]...)...).Node("node", "Add", list("x", "z"), list("y")), []*ir.Tensor{ir.NewTensor(ir.F32, ones...), ir.NewTensor(ir.F32, ones...)}, "f32[1 1"},
	}
	// Broadcasting that cannot be merged into fewer axes.
	for _, rank := range []int{6, 10, 14} {
		var a, b, both []any
		shapeA, shapeB := make([]int, rank), make([]int, rank)
		for i := range rank {
			both = append(both, 2)
			a, b = append(a, 1+i%2), append(b, 2-i%2)
			shapeA[i], shapeB[i] = 1+i%2, 2-i%2
		}
		a[rank-1], both[rank-1] = "N", "N"
		b[rank-1] = 1
		shapeA[rank-1], shapeB[rank-1] = 3, 1
		tests[fmt.Sprintf("broadcasting of %d axes", rank)] = hostile{
			onnxtest.New(21).Input("x", ir.F32, a...).Input("z", ir.F32, b...).Output("y", ir.F32, both...).Node("node", "Add", list("x", "z"), list("h")).Node("relu", "Relu", list("h"), list("y")),
			[]*ir.Tensor{ir.NewTensor(ir.F32, shapeA...), ir.NewTensor(ir.F32, shapeB...)}, "f32[2 2",
		}
	}
	testHostile(t, tests)
}

func testHostileImages(t *testing.T) {
	of := func(data []byte, want string) hostile {
		x := ir.NewTensor(ir.U8, len(data))
		for i, c := range data {
			x.SetInt(i, int64(c))
		}
		return hostile{onnxtest.New(21).Input("x", ir.U8, "N").Output("y", ir.U8, "H", "W", "C").Node("node", "ImageDecoder", list("x"), list("y")), []*ir.Tensor{x}, want}
	}
	chunk := func(kind string, data []byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		b = append(append(b, kind...), data...)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	}
	png := func(width, height uint32, rows []byte) []byte {
		header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
		out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, 8, 0, 0, 0, 0))...)
		return append(append(out, chunk("IDAT", rows)...), chunk("IEND", nil)...)
	}
	var zeros bytes.Buffer
	z := zlib.NewWriter(&zeros)
	for range 64 { // 64 MiB
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	bomb := png(2, 2, zeros.Bytes())
	tests := map[string]hostile{
		"nothing":                       of(nil, "image"),
		"a word":                        of([]byte("hello"), "image"),
		"a picture of 2^31 by 2^31":     of(png(1<<31-1, 1<<31-1, nil), "png"),
		"a picture of 2^27":             of(png(1<<14, 1<<13, zeros.Bytes()), "limit"),
		"a picture of 64 MiB for 4":     of(bomb, ""),
		"a bitmap of 2^31":              of(append([]byte("BM\x36\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\xff\xff\xff\x7f\xff\xff\xff\x7f\x01\x00\x18\x00"), make([]byte, 30)...), "bmp"),
		"a map of 2^62":                 of([]byte("P5 4611686018427387904 4611686018427387904 255\n"), "pnm"),
		"a jpeg of 65535 by 65535":      of([]byte("\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xd9"), "jpeg"),
		"a jpeg of many tables":         of(append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff\xe0\x00\x02"), 1<<18)...), "jpeg"),
		"a webp of 2^31":                of([]byte("RIFF\xff\xff\xff\xffWEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"), "webp"),
		"a tiff of a loop of its lists": of([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x00\x01\x04\x00\xff\xff\xff\xff\x08\x00\x00\x00\x08\x00\x00\x00"), "tiff"),
	}
	for i := range 16 {
		tests[fmt.Sprintf("cut at %d/16", i)] = of(bomb[:len(bomb)*i/16], "image")
		if i > 0 {
			tests[fmt.Sprintf("cut at %d/16", i)] = of(bomb[:len(bomb)*i/16], "png")
		}
	}
	testHostile(t, tests)
}

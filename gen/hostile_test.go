package gen_test

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/internal/heap"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/runtime/rt"
)

// hostile is a model, and arguments that it should not be given.
type hostile struct {
	model *onnxtest.Model
	args  []*ir.Tensor
	// want is a part of the error of the import, of the compilation or of the run. If the input is
	// unusual but valid, it is the type of the result.
	want string
}

const maxMemory = 512 << 20

// askedContext is done after a number of calls of Err. A loop calls Err in each iteration.
type askedContext struct {
	context.Context
	left int
}

func (c *askedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// within runs f and fails when it panics, or takes more than maxMemory.
func within(t *testing.T, f func()) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	bytes, panicked := heap.Growth(f)
	if panicked != nil {
		t.Errorf("panic: %v", panicked)
	}
	if bytes > maxMemory {
		t.Errorf("%d MiB of memory, at most %d expected", bytes>>20, maxMemory>>20)
	}
}

// compile imports, compiles and emits a model.
func compile(model *onnxtest.Model) (*gen.Model, error) {
	src, err := onnx.Read("model.onnx", model.Bytes(), nil, onnx.Options{})
	if err != nil {
		return nil, err
	}
	m, err := gen.Compile(src, gen.Options{Package: "model"})
	if err != nil {
		return nil, err
	}
	_, err = m.Files()
	return m, err
}

// outcome compiles and runs a model: the types of the results, or the error.
func (h hostile) outcome() string {
	m, err := compile(h.model)
	if err != nil {
		return err.Error()
	}
	var args []any
	var shapes [][]int
	for i, p := range m.Forward.IR.Params {
		if !p.Type.IsTensor() {
			continue
		}
		a := h.args[i]
		args, shapes = append(args, value.Slice(a)), append(shapes, a.Shape)
	}
	ctx := &askedContext{context.Background(), 1 << 16}
	results, outShapes, err := m.RunContext(ctx, args, shapes)
	if err != nil {
		return err.Error()
	}
	var types []string
	for i := range results {
		types = append(types, fmt.Sprintf("%s%v", m.Forward.IR.Results[i].Type.DType, outShapes[i]))
	}
	return strings.Join(types, " ")
}

func testHostile(t *testing.T, tests map[string]hostile) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got string
			within(t, func() { got = test.outcome() })
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			checkMessage(t, got)
		})
	}
}

// checkMessage fails if an error is one that no user should see.
func checkMessage(t *testing.T, text string) {
	t.Helper()
	for _, bad := range []string{"panic", "runtime error", "burngen bug", "%!", "do not fit it", "is not defined for"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s", text)
		}
	}
}

func list(s ...string) []string { return s }

// int64s returns a rank-1 tensor, and number a scalar.
func int64s(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I64, v...) }

func number(v int64) *ir.Tensor { return ir.IntTensor(ir.I64, v).Reshape() }

func floats(v ...float64) *ir.Tensor { return ir.FloatTensor(ir.F32, v...) }

// TestHostile runs models whose operands arrive when they run.
func TestHostile(t *testing.T) {
	defer rt.ArenaLimit(rt.ArenaLimit(64 << 20))
	t.Run("13 sizes that arrive when a model runs", testHostileSizes)
	t.Run("12 indices that arrive when a model runs", testHostileIndices)
	t.Run("08 control flow", testHostileControl)
	t.Run("08 containers", testHostileContainers)
	t.Run("11 texts", testHostileTexts)
	t.Run("12 trees", testHostileTrees)
	t.Run("12 attributes", testHostileAttributes)
	t.Run("13 images", testHostileImages)
	t.Run("13 constants that grow", testHostileConstants)
}

func testHostileSizes(t *testing.T) {
	const huge = 1 << 40
	x := floats(1, 2, 3, 4)
	// of is a model of x, f32[4], and an operand of n numbers that make another shape.
	of := func(op string, n int, attrs ...onnxtest.Attr) *onnxtest.Model {
		return onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, n).Output("y", ir.F32, "A").
			Node("node", op, list("x", "n"), list("y"), attrs...)
	}
	tests := map[string]hostile{
		"reshape":                   {of("Reshape", 1), []*ir.Tensor{x, int64s(huge)}, "node"},
		"reshape to a wrapped size": {onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, 3).Output("y", ir.F32, "A", "B", "C").Node("node", "Reshape", list("x", "n"), list("y")), []*ir.Tensor{x, int64s(1<<32, 1<<32, 4)}, "node"},
		"reshape with two -1":       {onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, 2).Output("y", ir.F32, "A", "B").Node("node", "Reshape", list("x", "n"), list("y")), []*ir.Tensor{x, int64s(-1, -1)}, "node"},
		"reshape by -1 and 0":       {onnxtest.New(21).Input("x", ir.F32, 0).Input("n", ir.I64, 2).Output("y", ir.F32, "A", "B").Node("node", "Reshape", list("x", "n"), list("y"), onnxtest.Attr{Name: "allowzero", Value: 1}), []*ir.Tensor{floats(), int64s(-1, 0)}, "node"},
		"reshape to a negative":     {of("Reshape", 1), []*ir.Tensor{x, int64s(math.MinInt64)}, "node"},
		"tile":                      {of("Tile", 1), []*ir.Tensor{x, int64s(huge)}, "node"},
		"tile that wraps":           {of("Tile", 1), []*ir.Tensor{x, int64s(1 << 62)}, "node"},
		"tile by a negative":        {of("Tile", 1), []*ir.Tensor{x, int64s(-1)}, "node"},
		"expand":                    {onnxtest.New(21).Input("x", ir.F32, 1).Input("n", ir.I64, 1).Output("y", ir.F32, "A").Node("node", "Expand", list("x", "n"), list("y")), []*ir.Tensor{floats(1), int64s(huge)}, ""},
		"expand that does not fit":  {of("Expand", 1), []*ir.Tensor{x, int64s(3)}, "node"},
		"expand by a negative":      {of("Expand", 1), []*ir.Tensor{x, int64s(-4)}, "node"},
		"pad":                       {of("Pad", 2), []*ir.Tensor{x, int64s(huge, huge)}, ""},
		"pad that wraps":            {of("Pad", 2), []*ir.Tensor{x, int64s(math.MaxInt64, math.MaxInt64)}, ""},
		"pad by less than there is": {of("Pad", 2), []*ir.Tensor{x, int64s(-3, -3)}, ""},
		"pad by MinInt64":           {of("Pad", 2), []*ir.Tensor{x, int64s(math.MinInt64, math.MinInt64)}, ""},
		"reflect by more than half": {of("Pad", 2, onnxtest.Attr{Name: "mode", Value: "reflect"}), []*ir.Tensor{x, int64s(100, 100)}, ""},
		"wrap of much":              {of("Pad", 2, onnxtest.Attr{Name: "mode", Value: "wrap"}), []*ir.Tensor{x, int64s(1<<20, 1<<20)}, ""},
		"edge of a negative":        {of("Pad", 2, onnxtest.Attr{Name: "mode", Value: "edge"}), []*ir.Tensor{x, int64s(-5, 3)}, ""},
		"constant of shape":         {onnxtest.New(21).Input("n", ir.I64, 1).Output("y", ir.F32, "A").Node("node", "ConstantOfShape", list("n"), list("y")), []*ir.Tensor{int64s(huge)}, ""},
		"a negative shape":          {onnxtest.New(21).Input("n", ir.I64, 1).Output("y", ir.F32, "A").Node("node", "ConstantOfShape", list("n"), list("y")), []*ir.Tensor{int64s(-huge)}, "node"},
		"a shape that wraps":        {onnxtest.New(21).Input("n", ir.I64, 4).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "ConstantOfShape", list("n"), list("y")), []*ir.Tensor{int64s(1<<31, 1<<31, 1<<31, 1<<31)}, ""},
		"top k":                     {of("TopK", 1), []*ir.Tensor{x, int64s(5)}, "node"},
		"top of a negative":         {of("TopK", 1), []*ir.Tensor{x, int64s(-1)}, "node"},
		"top of 2^62":               {of("TopK", 1), []*ir.Tensor{x, int64s(1 << 62)}, "node"},
		"split":                     {onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, 2).Output("y", ir.F32, "A").Output("z", ir.F32, "B").Node("node", "Split", list("x", "n"), list("y", "z")), []*ir.Tensor{x, int64s(1<<62, -1<<62+4)}, "node"},
		"one hot": {onnxtest.New(21).Input("x", ir.I64, 4).Input("n", ir.I64).Input("v", ir.F32, 2).Output("y", ir.F32, 4, "A").
			Node("node", "OneHot", list("x", "n", "v"), list("y")), []*ir.Tensor{int64s(1, 2, 3, math.MinInt64), number(huge), floats(0, 1)}, ""},
		"one hot of a negative depth": {onnxtest.New(21).Input("x", ir.I64, 4).Input("n", ir.I64).Input("v", ir.F32, 2).Output("y", ir.F32, 4, "A").
			Node("node", "OneHot", list("x", "n", "v"), list("y")), []*ir.Tensor{int64s(1, 2, 3, math.MinInt64), number(-1), floats(0, 1)}, "node"},
		"eye":                  {onnxtest.New(21).Input("n", ir.I64, 2).Output("y", ir.F32, "A", "B").Node("shape", "ConstantOfShape", list("n"), list("s")).Node("node", "EyeLike", list("s"), list("y")), []*ir.Tensor{int64s(1<<20, 1<<20)}, ""},
		"center":               {of("CenterCropPad", 1), []*ir.Tensor{x, int64s(huge)}, ""},
		"center of a negative": {of("CenterCropPad", 1), []*ir.Tensor{x, int64s(-7)}, ""},
		"hann":                 {onnxtest.New(21).Input("n", ir.I64).Output("y", ir.F32, "A").Node("node", "HannWindow", list("n"), list("y")), []*ir.Tensor{number(huge)}, ""},
		"hann of a negative":   {onnxtest.New(21).Input("n", ir.I64).Output("y", ir.F32, "A").Node("node", "HannWindow", list("n"), list("y")), []*ir.Tensor{number(-1)}, ""},
	}
	for name, n := range map[string][3]int64{
		"range of 2^60": {0, 1 << 60, 1}, "range by 0": {0, 5, 0}, "range that wraps": {math.MinInt64, math.MaxInt64, 1},
		"range down that wraps": {math.MaxInt64, math.MinInt64, -1}, "range by MinInt64": {math.MaxInt64, math.MinInt64, math.MinInt64},
	} {
		tests[name] = hostile{
			onnxtest.New(21).Input("a", ir.I64).Input("b", ir.I64).Input("c", ir.I64).Output("y", ir.I64, "A").Node("node", "Range", list("a", "b", "c"), list("y")),
			[]*ir.Tensor{number(n[0]), number(n[1]), number(n[2])}, "",
		}
	}
	for name, n := range map[string][3]float64{
		"range of floats": {0, 1e30, 1}, "range by NaN": {0, 5, math.NaN()}, "range to infinity": {0, math.Inf(1), 1}, "range by tiny steps": {0, 1, 1e-40},
	} {
		tests[name] = hostile{
			onnxtest.New(21).Input("a", ir.F32).Input("b", ir.F32).Input("c", ir.F32).Output("y", ir.F32, "A").Node("node", "Range", list("a", "b", "c"), list("y")),
			[]*ir.Tensor{floats(n[0]).Reshape(), floats(n[1]).Reshape(), floats(n[2]).Reshape()}, "",
		}
	}
	for name, scales := range map[string][]float64{
		"scales of 1e30": {1e30, 1e30, 1e30, 1e30}, "scales of NaN": {math.NaN(), 1, 1, 1}, "scales of 0": {1, 1, 0, 0}, "scales below 0": {1, 1, -2, -2}, "infinite scales": {1, 1, math.Inf(1), 1}, "scales of 1e6": {1, 1, 1e6, 1e6}, "scales of 1e-30": {1, 1, 1e-30, 1e-30},
	} {
		for _, mode := range list("nearest", "linear", "cubic") {
			tests[name+" "+mode] = hostile{
				onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("s", ir.F32, 4).Output("y", ir.F32, "A", "B", "C", "D").
					Node("node", "Resize", list("x", "", "s"), list("y"), onnxtest.Attr{Name: "mode", Value: mode}),
				[]*ir.Tensor{x.Reshape(1, 1, 2, 2), floats(scales...)}, "",
			}
			tests["constant "+name+" "+mode] = hostile{
				onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Initializer("s", floats(scales...)).Output("y", ir.F32, "A", "B", "C", "D").
					Node("node", "Resize", list("x", "", "s"), list("y"), onnxtest.Attr{Name: "mode", Value: mode}),
				[]*ir.Tensor{x.Reshape(1, 1, 2, 2)}, "",
			}
		}
	}
	for name, sizes := range map[string][]int64{"sizes of 2^40": {1, 1, huge, huge}, "sizes of 0": {1, 1, 0, 0}, "sizes below 0": {1, 1, -1, -1}, "sizes that wrap": {1 << 31, 1 << 31, 1 << 31, 1 << 31}} {
		tests[name] = hostile{
			onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("s", ir.I64, 4).Output("y", ir.F32, "A", "B", "C", "D").Node("node", "Resize", list("x", "", "", "s"), list("y")),
			[]*ir.Tensor{x.Reshape(1, 1, 2, 2), int64s(sizes...)}, "",
		}
	}
	testHostile(t, tests)
}

func testHostileIndices(t *testing.T) {
	x := floats(1, 2, 3, 4)
	slice := func(starts, ends, steps int64) hostile {
		return hostile{
			onnxtest.New(21).Input("x", ir.F32, 4).Input("a", ir.I64, 1).Input("b", ir.I64, 1).Input("c", ir.I64, 1).Input("d", ir.I64, 1).Output("y", ir.F32, "A").
				Node("node", "Slice", list("x", "a", "b", "c", "d"), list("y")),
			[]*ir.Tensor{x, int64s(starts), int64s(ends), int64s(0), int64s(steps)}, "",
		}
	}
	const low, high = math.MinInt64, math.MaxInt64
	tests := map[string]hostile{
		"slice from MinInt64": slice(low, high, 1), "slice back": slice(high, low, -1), "slice by MinInt64": slice(high, low, low), "slice by MaxInt64": slice(low, high, high),
		"slice by 0": slice(0, 4, 0), "slice to nothing": slice(high, high, 1), "slice wrongly": slice(low, low, low),
		"slice of an axis": {onnxtest.New(21).Input("x", ir.F32, 4).Input("a", ir.I64, 1).Input("b", ir.I64, 1).Input("c", ir.I64, 1).Output("y", ir.F32, "A").
			Node("node", "Slice", list("x", "a", "b", "c"), list("y")), []*ir.Tensor{x, int64s(0), int64s(1), int64s(low)}, ""},
		"gather": {onnxtest.New(21).Input("x", ir.F32, 4).Input("i", ir.I64, 2).Output("y", ir.F32, 2).Node("node", "Gather", list("x", "i"), list("y")),
			[]*ir.Tensor{x, int64s(low, high)}, "node"},
		"gather from nothing": {onnxtest.New(21).Input("x", ir.F32, "N").Input("i", ir.I64, 2).Output("y", ir.F32, 2).Node("node", "Gather", list("x", "i"), list("y")),
			[]*ir.Tensor{floats(), int64s(0, -1)}, "node"},
		"gather elements": {onnxtest.New(21).Input("x", ir.F32, 4).Input("i", ir.I64, 2).Output("y", ir.F32, 2).Node("node", "GatherElements", list("x", "i"), list("y")),
			[]*ir.Tensor{x, int64s(low, high)}, "node"},
		"gather slices": {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64, 1, 2).Output("y", ir.F32, 1).Node("node", "GatherND", list("x", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(2, 2), int64s(low, high).Reshape(1, 2)}, "node"},
		"scatter elements": {onnxtest.New(21).Input("x", ir.F32, 4).Input("i", ir.I64, 2).Input("u", ir.F32, 2).Output("y", ir.F32, 4).Node("node", "ScatterElements", list("x", "i", "u"), list("y")),
			[]*ir.Tensor{x, int64s(low, high), floats(1, 2)}, "node"},
		"scatter slices": {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64, 1, 2).Input("u", ir.F32, 1).Output("y", ir.F32, 2, 2).Node("node", "ScatterND", list("x", "i", "u"), list("y")),
			[]*ir.Tensor{x.Reshape(2, 2), int64s(low, high).Reshape(1, 2), floats(1)}, "node"},
		"an axis": {onnxtest.New(21).Input("x", ir.F32, 4).Input("i", ir.I64).Output("y", ir.F32, 4).Node("node", "CumSum", list("x", "i"), list("y")), []*ir.Tensor{x, number(low)}, ""},
		"axes of a sum": {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64, 1).Output("y", ir.F32, "A", "B").Node("node", "ReduceSum", list("x", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(2, 2), int64s(high)}, "node"},
		"axes of a squeeze": {onnxtest.New(21).Input("x", ir.F32, 1, 4).Input("i", ir.I64, 1).Output("y", ir.F32, "A").Node("node", "Squeeze", list("x", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(1, 4), int64s(1)}, "node"},
		"axes of an unsqueeze": {onnxtest.New(21).Input("x", ir.F32, 4).Input("i", ir.I64, 1).Output("y", ir.F32, "A", "B").Node("node", "Unsqueeze", list("x", "i"), list("y")),
			[]*ir.Tensor{x, int64s(low)}, "node"},
		"a diagonal":           {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64).Output("y", ir.F32, 2, 2).Node("node", "Trilu", list("x", "i"), list("y")), []*ir.Tensor{x.Reshape(2, 2), number(low)}, ""},
		"the largest diagonal": {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64).Output("y", ir.F32, 2, 2).Node("node", "Trilu", list("x", "i"), list("y")), []*ir.Tensor{x.Reshape(2, 2), number(high)}, ""},
		"reversed lengths": {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64, 2).Output("y", ir.F32, 2, 2).Node("node", "ReverseSequence", list("x", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(2, 2), int64s(low, high)}, "node"},
		"division":    {onnxtest.New(21).Input("x", ir.I64, 2).Input("i", ir.I64, 2).Output("y", ir.I64, 2).Node("node", "Div", list("x", "i"), list("y")), []*ir.Tensor{int64s(1, low), int64s(0, -1)}, "node"},
		"remainder":   {onnxtest.New(21).Input("x", ir.I64, 2).Input("i", ir.I64, 2).Output("y", ir.I64, 2).Node("node", "Mod", list("x", "i"), list("y")), []*ir.Tensor{int64s(1, low), int64s(0, -1)}, "node"},
		"low over -1": {onnxtest.New(21).Input("x", ir.I64, 1).Input("i", ir.I64, 1).Output("y", ir.I64, 1).Node("node", "Div", list("x", "i"), list("y")), []*ir.Tensor{int64s(low), int64s(-1)}, "i64[1]"},
		"a power":     {onnxtest.New(21).Input("x", ir.I64, 2).Input("i", ir.I64, 2).Output("y", ir.I64, 2).Node("node", "Pow", list("x", "i"), list("y")), []*ir.Tensor{int64s(3, 0), int64s(high, low)}, "i64[2]"},
		"a shift":     {onnxtest.New(21).Input("x", ir.I64, 2).Output("y", ir.I64, 2).Node("cast", "Cast", list("x"), list("c"), onnxtest.Attr{Name: "to", Value: 13}).Node("node", "BitShift", list("c", "c"), list("d"), onnxtest.Attr{Name: "direction", Value: "LEFT"}).Node("back", "Cast", list("d"), list("y"), onnxtest.Attr{Name: "to", Value: 7}), []*ir.Tensor{int64s(low, high)}, "i64[2]"},
		"compress":    {onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, "N").Output("y", ir.F32, "A").Node("cast", "Cast", list("n"), list("c"), onnxtest.Attr{Name: "to", Value: 9}).Node("node", "Compress", list("x", "c"), list("y")), []*ir.Tensor{x, int64s(1, 0, 1, 0, 0, 0, 1)}, "f32[2]"},
		"suppression": {onnxtest.New(21).Input("b", ir.F32, 1, 2, 4).Input("s", ir.F32, 1, 1, 2).Input("n", ir.I64).Output("y", ir.I64, "A", 3).Node("node", "NonMaxSuppression", list("b", "s", "n"), list("y")), []*ir.Tensor{floats(0, 0, math.NaN(), 1, 0, 0, math.Inf(1), 1).Reshape(1, 2, 4), floats(math.NaN(), 1).Reshape(1, 1, 2), number(high)}, ""},
		"regions": {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("r", ir.F32, 1, 4).Input("i", ir.I64, 1).Output("y", ir.F32, 1, 1, 1, 1).Node("node", "RoiAlign", list("x", "r", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(1, 1, 2, 2), floats(math.NaN(), -1e30, 1e30, math.Inf(1)).Reshape(1, 4), int64s(high)}, "node"},
		"endless regions": {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("r", ir.F32, 1, 4).Input("i", ir.I64, 1).Output("y", ir.F32, 1, 1, 1, 1).Node("node", "RoiAlign", list("x", "r", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(1, 1, 2, 2), floats(-1e30, -1e30, 1e30, math.Inf(1)).Reshape(1, 4), int64s(0)}, ""},
		"a grid": {onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("g", ir.F32, 1, 1, 2, 2).Output("y", ir.F32, 1, 1, 1, 2).Node("node", "GridSample", list("x", "g"), list("y"), onnxtest.Attr{Name: "padding_mode", Value: "reflection"}),
			[]*ir.Tensor{x.Reshape(1, 1, 2, 2), floats(math.NaN(), 1e30, -1e38, math.Inf(1)).Reshape(1, 1, 2, 2)}, ""},
		"unpooled": {onnxtest.New(21).Input("x", ir.F32, 1, 1, 1, 2).Input("i", ir.I64, 1, 1, 1, 2).Output("y", ir.F32, 1, 1, 2, 4).Node("node", "MaxUnpool", list("x", "i"), list("y"), onnxtest.Attr{Name: "kernel_shape", Value: []int{2, 2}}, onnxtest.Attr{Name: "strides", Value: []int{2, 2}}),
			[]*ir.Tensor{floats(1, 2).Reshape(1, 1, 1, 2), int64s(low, high).Reshape(1, 1, 1, 2)}, "node"},
		"a cast of NaN": {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.I64, 4).Node("node", "Cast", list("x"), list("y"), onnxtest.Attr{Name: "to", Value: 7}),
			[]*ir.Tensor{floats(math.NaN(), math.Inf(1), math.Inf(-1), 1e30)}, "i64[4]"},
		"quantised by 0": {onnxtest.New(21).Input("x", ir.F32, 4).Input("s", ir.F32).Input("z", ir.U8).Output("y", ir.U8, 4).Node("node", "QuantizeLinear", list("x", "s", "z"), list("y")),
			[]*ir.Tensor{floats(math.NaN(), math.Inf(1), 0, 1), floats(0).Reshape(), ir.IntTensor(ir.U8, 255).Reshape()}, ""},
		"losses": {onnxtest.New(21).Input("x", ir.F32, 2, 2).Input("i", ir.I64, 2).Output("y", ir.F32).Node("node", "SoftmaxCrossEntropyLoss", list("x", "i"), list("y")),
			[]*ir.Tensor{x.Reshape(2, 2), int64s(low, high)}, "node"},
	}
	testHostile(t, tests)
}

package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestResizeTables asserts that the table of mode nearest has no weights.
func TestResizeTables(t *testing.T) {
	checkCalls(t, []called{
		{
			op.ResizeTable{Mode: "nearest", Coordinates: "asymmetric", Rounding: "floor", In: dim.Const(4), Out: dim.Const(8), Scale: 2, Taps: dim.Const(1)},
			nil,
			"ResizeNearestTable(y0 4 8 {Mode:nearest Coordinates:asymmetric Rounding:floor Scale:f64:2 Start:f64:0 End:f64:0 CubicA:f64:0} nil)",
		},
		{
			op.ResizeTable{Mode: "linear", Coordinates: "half_pixel", In: dim.Const(4), Out: dim.Const(8), Scale: 2, Taps: dim.Const(2)},
			nil,
			"ResizeTable(y0 y1 4 8 2 {Mode:linear Coordinates:half_pixel Rounding: Scale:f64:2 Start:f64:0 End:f64:0 CubicA:f64:0} nil)",
		},
	})
}

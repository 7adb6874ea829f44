package storage

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/ir"
)

// TestSumsOfPackedMatrices asserts that the sums are those of the shifted elements, and that the
// padding is zero.
func TestSumsOfPackedMatrices(t *testing.T) {
	x := ir.NewTensor(ir.I8, 1, 2, 5)
	for i := range x.Len() {
		x.SetInt(i, int64(i-4))
	}
	rows, err := PackRows{Sums: true}.Eval([]*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ints(rows[0]), []int64{124, 125, 126, 127, 128, 0, 0, 0, 129, 130, 131, 132, 133, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got, want := ints(rows[1]), []int64{630, 655}; !slices.Equal(got, want) {
		t.Errorf("sums of rows %v, want %v", got, want)
	}
	columns, err := PackColumns{Sums: true}.Eval([]*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ints(columns[0])[:12], []int64{-4, 1, 0, 0, -3, 2, 0, 0, -2, 3, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("panel %v, want %v", got, want)
	}
	if got, want := ints(columns[1]), []int64{-3, -1, 1, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("sums of columns %v, want %v", got, want)
	}
}

// TestPackRowsOfPackedRows asserts that rows are packed only if that changes them.
func TestPackRowsOfPackedRows(t *testing.T) {
	for _, c := range []struct {
		op   PackRows
		x    string
		kept bool
	}{
		{PackRows{}, "u8[2,3,8]", true},
		{PackRows{}, "u8[2,3,7]", false},
		{PackRows{}, "i8[2,3,8]", false},
		{PackRows{Sums: true}, "u8[2,3,8]", false},
	} {
		b := ir.NewBuilder(&ir.Func{Name: "f"})
		x := b.Param("x", typeOf(t, c.x))
		y := c.op.Lower(b, b.Nodes(c.op, x)[0].Def)
		if (len(y) == 1 && y[0] == x) != c.kept {
			t.Errorf("%+v of %s: %v, kept %t expected", c.op, c.x, y, c.kept)
		}
	}
}

// ints returns the elements of a tensor of integers.
func ints(x *ir.Tensor) []int64 {
	list := make([]int64, x.Len())
	for i := range list {
		list[i] = x.Int(i)
	}
	return list
}

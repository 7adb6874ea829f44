package rt

import (
	"slices"
	"testing"
)

// TestTranspose moves matrices larger and smaller than a tile, of elements of several widths.
func TestTranspose(t *testing.T) {
	for _, c := range []struct{ rows, columns int }{{1, 1}, {1, 5}, {3, 2}, {16, 16}, {17, 33}, {40, 7}, {0, 3}} {
		w := NewWeights()
		singles, doubles, bytes := make([]float32, c.rows*c.columns), make([]float64, c.rows*c.columns), make([]int8, c.rows*c.columns)
		for i := range singles {
			singles[i], doubles[i], bytes[i] = float32(i), -float64(i), int8(i)
		}
		Add(w, "f32", singles, c.rows, c.columns)
		Add(w, "f64", doubles, c.rows, c.columns)
		Add(w, "i8", bytes, c.rows, c.columns)
		if err := w.Transpose("f32", "f64", "i8"); err != nil {
			t.Fatal(err)
		}
		checkTransposed(t, WeightsOf[float32](w, "f32", c.columns, c.rows), singles, c.rows, c.columns)
		checkTransposed(t, WeightsOf[float64](w, "f64", c.columns, c.rows), doubles, c.rows, c.columns)
		checkTransposed(t, WeightsOf[int8](w, "i8", c.columns, c.rows), bytes, c.rows, c.columns)
		if err := w.Transpose("f32"); err != nil { // back again
			t.Fatal(err)
		}
		if got := WeightsOf[float32](w, "f32", c.rows, c.columns); !slices.Equal(got, singles) {
			t.Errorf("%d rows, %d columns: transposed twice, the matrix is %v", c.rows, c.columns, got)
		}
		if err := w.Err(); err != nil {
			t.Error(err)
		}
	}
}

func checkTransposed[T comparable](t *testing.T, got, from []T, rows, columns int) {
	t.Helper()
	if len(got) != len(from) {
		t.Fatalf("%d elements of %d", len(got), len(from))
	}
	for i := range rows {
		for j := range columns {
			if got[j*rows+i] != from[i*columns+j] {
				t.Fatalf("%d rows, %d columns: element %d,%d is %v, want %v", rows, columns, j, i, got[j*rows+i], from[i*columns+j])
			}
		}
	}
}

package exec

import (
	"reflect"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// TestElements asserts that every element type has a Go type of its size, and that strings lack what
// needs numbers.
func TestElements(t *testing.T) {
	for d, e := range elements {
		t.Run(d.String(), func(t *testing.T) {
			s := MakeSlice(d, 3)
			v := reflect.ValueOf(s)
			if v.Len() != 3 || v.Type().Elem() != GoType(d) || !v.Index(0).IsZero() {
				t.Errorf("a slice of 3: %T %v", s, s)
			}
			if e.tensor.Field(0).Type != v.Type() {
				t.Errorf("a tensor holds %v", e.tensor.Field(0).Type)
			}
			if d == ir.String {
				if _, ok := Sample(d, s); ok || CanAddMade(d) {
					t.Error("there are samples of strings")
				}
				Draw(d, s, 0, 1, 1)
				if !v.Index(0).IsZero() {
					t.Errorf("strings %q are drawn", s)
				}
				return
			}
			if size := int64(GoType(d).Size()); size != int64(d.Size()) {
				t.Errorf("%d bytes, not %d", size, d.Size())
			}
			if packed := d.Bits() < 8 && d != ir.Bool; CanAddMade(d) == packed {
				t.Errorf("packed: %t, can be made later: %t", packed, CanAddMade(d))
			}
			sample, ok := Sample(d, s)
			if !ok || sample.Count != 3 {
				t.Errorf("sample %+v", sample)
			}
			if err := CheckSample(d, s, sample); err != nil {
				t.Error(err)
			}
			if err := CheckSample(d, MakeSlice(d, 2), sample); err == nil {
				t.Error("a sample of 3 elements fits 2")
			}
			arena, err := rt.NewArena(64)
			if err != nil {
				t.Fatal(err)
			}
			if at := reflect.ValueOf(view(arena, d, 16, 2)); at.Len() != 2 || at.UnsafePointer() != reflect.ValueOf(&arena[16]).UnsafePointer() {
				t.Errorf("a view of the arena is %v", at)
			}
		})
	}
}

func TestDraw(t *testing.T) {
	a, b, other := make([]float32, 100), make([]float32, 100), make([]float32, 100)
	Draw(ir.F32, a, 2, 3, 7)
	Draw(ir.F32, b, 2, 3, 7)
	Draw(ir.F32, other, 2, 3, 8)
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, other) {
		t.Error("the seed does not determine the numbers")
	}
	for _, x := range a {
		if x < 2 || x > 3 {
			t.Fatalf("%v is not between 2 and 3", x)
		}
	}
}

package exec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

var (
	floats    = ir.TensorOf(ir.F32, dim.Const(2), dim.Sym("N"))
	sequence  = ir.Type{Kind: ir.SequenceKind, Elem: &floats}
	optional  = ir.Type{Kind: ir.OptionalKind, Elem: &floats}
	perhaps   = ir.Type{Kind: ir.OptionalKind, Elem: &sequence}
	scalar    = ir.TensorOf(ir.F64)
	table     = ir.Type{Kind: ir.MapKind, DType: ir.I64, Elem: &scalar}
	tables    = ir.Type{Kind: ir.SequenceKind, Elem: &table}
	texts     = ir.TensorOf(ir.String, dim.Const(2))
	wordLists = ir.Type{Kind: ir.SequenceKind, Elem: &texts}
)

func TestHeldType(t *testing.T) {
	for _, c := range []struct {
		typ  ir.Type
		want reflect.Type
	}{
		{texts, reflect.TypeFor[[]string]()},
		{sequence, reflect.TypeFor[[]rt.Tensor[float32]]()},
		{wordLists, reflect.TypeFor[[]rt.Tensor[string]]()},
		{optional, reflect.TypeFor[*rt.Tensor[float32]]()},
		{perhaps, reflect.TypeFor[*[]rt.Tensor[float32]]()},
		{table, reflect.TypeFor[map[int64]float64]()},
		{tables, reflect.TypeFor[[]map[int64]float64]()},
	} {
		if got := HeldType(c.typ); got != c.want {
			t.Errorf("%s is a %v, want %v", c.typ, got, c.want)
		}
		if got := reflect.TypeOf(MakeContainer(c.typ, nil)); !c.typ.IsTensor() && got != c.want {
			t.Errorf("%s without tensors is a %v", c.typ, got)
		}
	}
}

func TestMakeContainer(t *testing.T) {
	a := Item{Data: []float32{1, 2}, Shape: []int{2, 1}}
	b := Item{Data: []float32{}, Shape: []int{2, 0}}
	of := func(i Item) rt.Tensor[float32] { return rt.Tensor[float32]{Data: i.Data.([]float32), Shape: i.Shape} }
	x := of(a)
	for _, c := range []struct {
		typ   ir.Type
		items []Item
		want  any
	}{
		{sequence, []Item{a, b}, []rt.Tensor[float32]{of(a), of(b)}},
		{optional, []Item{a}, &x},
		{optional, nil, (*rt.Tensor[float32])(nil)},
		{perhaps, []Item{b, a}, &[]rt.Tensor[float32]{of(b), of(a)}},
		{perhaps, nil, (*[]rt.Tensor[float32])(nil)},
		{table, nil, map[int64]float64{}},
	} {
		got := MakeContainer(c.typ, c.items)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %v is %v, want %v", c.typ, c.items, got, c.want)
		}
		if err := checkContainer("x", c.typ, reflect.ValueOf(got)); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckContainer(t *testing.T) {
	tensor := func(n int, shape ...int) rt.Tensor[float32] {
		return rt.Tensor[float32]{Data: make([]float32, n), Shape: shape}
	}
	wrong := tensor(3, 2, 2)
	for _, c := range []struct {
		typ   ir.Type
		value any
		want  string
	}{
		{sequence, nil, "x: []rt.Tensor[float32] expected"},
		{sequence, []rt.Tensor[float64]{}, "x: []rt.Tensor[float32] expected"},
		{sequence, []rt.Tensor[float32]{tensor(2, 2, 1), wrong}, "x: element 1: shape [2 2] of 3 elements"},
		{sequence, []rt.Tensor[float32]{tensor(0, -1, 0)}, "x: element 0: shape [-1 0] of 0 elements"},
		{sequence, []rt.Tensor[float32]{tensor(3, 3, 1)}, rt.CheckItem("x: element 0", []int{3, 1}, []int{2, rt.AnyDim}).Error()},
		{optional, &wrong, "x: shape [2 2] of 3 elements"},
		{perhaps, &[]rt.Tensor[float32]{wrong}, "x: element 0: shape [2 2] of 3 elements"},
		{tables, []map[int64]float32{}, "x: []map[int64]float64 expected"},
		{tables, []map[int64]float64{nil, {1: 2}}, "<nil>"},
		{table, map[int64]float64(nil), "<nil>"},
	} {
		if got := fmt.Sprint(checkContainer("x", c.typ, reflect.ValueOf(c.value))); got != c.want {
			t.Errorf("%s, %v: error %q, want %q", c.typ, c.value, got, c.want)
		}
	}
}

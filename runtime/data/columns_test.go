package data_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/data"
)

func TestColumns(t *testing.T) {
	type row struct {
		Rooms  int
		Price  float32   `data:"price,optional"`
		Sizes  []float64 `data:",optional"`
		Note   string    `data:"-"`
		hidden int
	}
	_ = row{hidden: 1}
	got, err := data.Columns[row]()
	want := []data.Column{
		{"Rooms", 0, reflect.TypeFor[int](), false},
		{"price", 1, reflect.TypeFor[float32](), true},
		{"Sizes", 2, reflect.TypeFor[[]float64](), true},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b reflect.Type) bool { return a == b })); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	wantError(t, failed(data.Columns[int]()), "rows are int: a struct expected")
	type odd struct {
		A int `data:"a,omitempty"`
		B int `data:",b"`
	}
	wantError(t, failed(data.Columns[odd]()), "field A: tag says \"omitempty\": optional or nothing expected\nfield B: tag says \"b\": optional or nothing expected")
}

func TestNamesOfColumns(t *testing.T) {
	price := data.Column{Name: "price"}
	for _, tt := range []struct {
		names []string
		want  int
	}{
		{[]string{"Price", "PRICE", "price"}, 2},
		{[]string{"cost", " PRICE ", "Price"}, 1},
		{[]string{"prices", "pric"}, -1},
		{nil, -1},
	} {
		if got := price.Index(tt.names); got != tt.want {
			t.Errorf("%q: column %d, want %d", tt.names, got, tt.want)
		}
	}
}

func TestMissingValues(t *testing.T) {
	row := struct {
		Price float32
		Rooms int
		Note  *string
		Sizes []float64
	}{1, 2, new(string), []float64{3}}
	columns, err := data.ColumnsOf(reflect.TypeOf(row))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		c.SetMissing(reflect.ValueOf(&row).Elem())
	}
	if row.Price == row.Price || row.Rooms != 0 || row.Note != nil || row.Sizes != nil {
		t.Errorf("%+v", row)
	}
}

package rt

import (
	"math"
	"slices"
	"testing"
)

func TestKept(t *testing.T) {
	var k Kept[float32]
	symbols := NewSymbols("N", "S")
	begin := func(n int) []int {
		symbols.Reset()
		if err := symbols.Bind("test", 0, n); err != nil {
			t.Fatal(err)
		}
		if err := k.Begin("test", &symbols, Sym(0), 3, Sym(1), AnyDim); err != nil {
			t.Fatal(err)
		}
		return k.Now.Shape
	}
	if got := begin(2); !slices.Equal(got, []int{2, 3, 0, 0}) || len(k.Now.Data) != 0 {
		t.Errorf("it begins as %v", got)
	}
	if symbols.Value(1) != -1 {
		t.Error("the symbol is bound before its shape is checked")
	}
	k.Next = Tensor[float32]{Data: []float32{1, 2}, Shape: []int{2, 1}}
	k.Turn()
	if got := begin(5); !slices.Equal(got, []int{2, 1}) || k.Now.Data[1] != 2 {
		t.Errorf("the second call reads %v %v", got, k.Now.Data)
	}
	k.Reset()
	symbols.Reset()
	if err := k.Begin("test", &symbols, 2); err != nil || !slices.Equal(k.Now.Data, []float32{0, 0}) {
		t.Errorf("after Reset a call reads %v, %v", k.Now, err)
	}
	if err := k.Begin("test", &symbols, math.MaxInt, math.MaxInt); err == nil {
		t.Error("a shape that no memory holds")
	}
}

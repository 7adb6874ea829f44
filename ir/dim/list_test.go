package dim

import (
	"slices"
	"testing"
)

func TestListOfConstants(t *testing.T) {
	list := Consts(2, 3, 4)
	if n, ok := Ints(list); !ok || !slices.Equal(n, []int{2, 3, 4}) {
		t.Errorf("Ints of Consts(2, 3, 4): %v, %v", n, ok)
	}
	if n, ok := Ints(append(list, Sym("N"))); ok {
		t.Errorf("Ints of a symbol: %v", n)
	}
	if p := Product(append(list, Sym("N"))...); p.String() != "24*N" {
		t.Errorf("the product is %s", p)
	}
	if p := Product(); !p.Equal(Const(1)) {
		t.Errorf("the product of none is %s", p)
	}
}

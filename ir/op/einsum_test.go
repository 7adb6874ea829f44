package op

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
)

// sumOfProducts evaluates an equation by its definition. For all values of all labels, it adds the
// product of the operands' elements to the element of the result.
func sumOfProducts(terms [][]label, out []label, in []*ir.Tensor) *ir.Tensor {
	extents := map[label]int{}
	var order []label
	for i, term := range terms {
		for k, l := range term {
			if _, ok := extents[l]; !ok {
				order = append(order, l)
			}
			extents[l] = max(extents[l], in[i].Shape[k])
			if in[i].Shape[k] == 0 {
				extents[l] = 0
			}
		}
	}
	for i, term := range terms {
		for k, l := range term {
			if in[i].Shape[k] == 0 {
				extents[l] = 0
			}
		}
	}
	place := func(term []label, shape []int, at map[label]int) (n int) {
		for k, l := range term {
			n = n*shape[k] + min(at[l], shape[k]-1)
		}
		return n
	}
	shape := make([]int, len(out))
	for i, l := range out {
		shape[i] = extents[l]
	}
	y := ir.NewTensor(in[0].DType, shape...)
	at := map[label]int{}
	var walk func(depth int)
	walk = func(depth int) {
		if depth < len(order) {
			for v := range extents[order[depth]] {
				at[order[depth]] = v
				walk(depth + 1)
			}
			return
		}
		p := 1.0
		for i, term := range terms {
			p *= in[i].Float(place(term, in[i].Shape, at))
		}
		i := place(out, shape, at)
		y.SetFloat(i, y.Float(i)+p)
	}
	walk(0)
	return y
}

func checkEinsum(t tester, equation string, shapes ...[]int) {
	t.Helper()
	var in []*ir.Tensor
	var params []ir.Type
	ranks := make([]int, len(shapes))
	for i, shape := range shapes {
		x := counted(ir.F64, shape...)
		for k := range x.Len() {
			x.SetFloat(k, float64((k*7+i*3)%5-2))
		}
		in, params = append(in, x), append(params, x.Type())
		ranks[i] = len(shape)
	}
	f, err := importFunc("Einsum", 12, 1, attrs{"equation": equation}, params)
	if err != nil {
		t.Fatalf("%s of %v: %v", equation, shapes, err)
	}
	terms, out, err := parseEquation(equation, ranks)
	if err != nil {
		t.Fatal(err)
	}
	want := sumOfProducts(terms, out, in)
	if got := checkLower(t, f, 1e-12, in...)[0]; !closeTo(got, want, 1e-12) {
		t.Fatalf("%s of %v is %s, want %s\n%s", equation, shapes, got, want, f)
	}
}

func TestEinsum(t *testing.T) {
	for _, test := range []struct {
		equation string
		shapes   [][]int
	}{
		{"ij->ji", [][]int{{2, 3}}},
		{"ji", [][]int{{2, 3}}},
		{"ij->", [][]int{{2, 3}}},
		{"ii", [][]int{{3, 3}}},
		{"ii->i", [][]int{{3, 3}}},
		{"iij->ij", [][]int{{3, 3, 2}}},
		{"iji->ij", [][]int{{3, 2, 3}}},
		{"iii", [][]int{{2, 2, 2}}},
		{"...ii ->...i", [][]int{{4, 3, 3}}},
		{"ij,jk->ik", [][]int{{2, 3}, {3, 4}}},
		{"ij , jk", [][]int{{2, 3}, {3, 4}}},
		{"bij,bjk->bik", [][]int{{2, 2, 3}, {2, 3, 4}}},
		{"bhid,bhjd->bhij", [][]int{{2, 2, 3, 4}, {2, 2, 5, 4}}},
		{"i,j->ij", [][]int{{2}, {3}}},
		{"i,j->ji", [][]int{{2}, {3}}},
		{"i,i", [][]int{{3}, {3}}},
		{"i,i->i", [][]int{{3}, {3}}},
		{"i,ij", [][]int{{3}, {3, 2}}},
		{",->", [][]int{{}, {}}},
		{",ij->ij", [][]int{{}, {2, 3}}},
		{"...ij,...jk->...ik", [][]int{{5, 1, 2, 3}, {4, 3, 2}}},
		{"...,...", [][]int{{3, 1}, {4}}},
		{"i...->...", [][]int{{3, 2, 2}}},
		{"a...b,b->...a", [][]int{{2, 3, 4}, {4}}},
		{"ij,jk,kl->il", [][]int{{2, 3}, {3, 4}, {4, 2}}},
		{"ij,ij,ij->j", [][]int{{2, 3}, {2, 3}, {2, 3}}},
		{"i,j,k->kji", [][]int{{2}, {3}, {2}}},
		{"ii,ij->j", [][]int{{3, 3}, {3, 2}}},
		{"ij,kl->", [][]int{{2, 3}, {2, 2}}},
		{"ij,jk->ik", [][]int{{2, 0}, {0, 3}}},
		{"ij,jk->ik", [][]int{{2, 1}, {3, 4}}},
		{"Ab,bA", [][]int{{2, 3}, {3, 2}}},
	} {
		t.Run(fmt.Sprint(test.equation, test.shapes), func(t *testing.T) { checkEinsum(t, test.equation, test.shapes...) })
	}
}

func TestEinsumOfAnyEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		extents := map[byte]int{}
		for _, l := range []byte("abcd") {
			extents[l] = rapid.IntRange(1, 3).Draw(t, "extent")
		}
		var texts []string
		var shapes [][]int
		used := ""
		for range rapid.IntRange(1, 4).Draw(t, "operands") {
			text := ""
			shape := []int{}
			for range rapid.IntRange(0, 3).Draw(t, "rank") {
				l := rapid.SampledFrom([]byte("abcd")).Draw(t, "label")
				text, shape = text+string(l), append(shape, extents[l])
				if !strings.Contains(used, string(l)) {
					used += string(l)
				}
			}
			texts, shapes = append(texts, text), append(shapes, shape)
		}
		equation := strings.Join(texts, ",")
		if rapid.Bool().Draw(t, "explicit") {
			equation += "->"
			for _, l := range rapid.Permutation([]byte(used)).Draw(t, "result") {
				if rapid.Bool().Draw(t, "kept") {
					equation += string(l)
				}
			}
		}
		checkEinsum(t, equation, shapes...)
	})
}

func TestEinsumErrors(t *testing.T) {
	for _, test := range []struct{ equation, want string }{
		{"ij", `equation "ij" has 1 terms for 2 operands`},
		{"ij,j", `term "j" for rank 2`},
		{"ij,jk->il", "no operand has label l"},
		{"ij,jk->ii", "the result has a label twice"},
		{"i1,jk->ii", `has '1' where a label is expected`},
		{"ijk...,jk", `term "ijk..." has more labels than its operand axes`},
		{"ij,ij", "extents of a label: 3 is not 4"},
	} {
		_, err := importFunc("Einsum", 12, 1, attrs{"equation": test.equation}, types(t, "f32[3,3]", "f32[3,4]"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.equation, err, test.want)
		}
	}
}

func TestEinsumOfSymbols(t *testing.T) {
	f, err := importFunc("Einsum", 12, 1, attrs{"equation": "bsd,btd->bst"}, types(t, "f32[B,S,D]", "f32[C,T,8]"))
	if err != nil {
		t.Fatal(err)
	}
	x, y := counted(ir.F32, 2, 3, 8), counted(ir.F32, 2, 1, 8)
	if out := run(t, f, x, y)[0]; fmt.Sprint(out.Shape) != "[2 3 1]" {
		t.Errorf("shape %v", out.Shape)
	}
	lowered(t, f)
}

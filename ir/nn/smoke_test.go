package nn_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

func TestSmoke(t *testing.T) {
	x := nn.Of([]float64{1, 2, 3, 4})
	fmt.Printf("%.4v\n", x.Sub(x.Min()).Div(x.Max().Sub(x.Min())))
	m := nn.Of([][]float64{{2, 3}, {4, 5}})
	fmt.Println(m.Add(nn.Ones(2, 2)), m.MatMul(m.T()), m.Sum(1), m.Var())
	fmt.Println(nn.Try(func() { m.MatMul(nn.Zeros(3, 2)) }))
	fmt.Println(nn.Try(func() { m.Add(nn.Arange(2)) }))
	fmt.Println(nn.Try(func() { m.Reshape(3, -1) }))
	fmt.Println(nn.Einsum("ij,jk->ik", m, m))
	fmt.Println(m.Slice(nn.R(0, 1), nn.R(-1, nn.End)), m.Flip(0), m.Roll(1, 1), m.Unfold(1, 1, 1))
	fmt.Println(m.Greater(2.5).ArgWhere(), m.MaskSelect(m.Greater(2.5)))
	n := nn.While(nn.Scalar(1), func(s nn.Value) nn.Value { return s.Less(100) }, func(s nn.Value) nn.Value { return s.Mul(3) })
	fmt.Println(n)
	s, ys := nn.Scan(m, nn.Zeros(2), func(s, x nn.Value) (nn.Value, nn.Value) { s = s.Add(x); return s, s.Mul(2) })
	fmt.Println(s, ys, nn.If(n.Greater(100), func() nn.Value { return m.Sum() }, func() nn.Value { return m.Mean() }))
	fmt.Println(m.SliceAssign([]nn.Span{nn.R(0, 1), nn.R(1, 2)}, 9), nn.Arange(30), m.SortDescending(1), m.TopK(1, -1))
	q, r := nn.QR(m)
	l, u := nn.LU(m)
	fmt.Println(q.MatMul(r), l.MatMul(u), nn.Normal(0, 1, 3), nn.RandomInts(0, 5, 4), m.Log1p(), m.Expm1(), m.Atan2(1), m.Pad("reflect", 0, 1, 1))
	type bad struct{ P nn.Param }
	fmt.Println(nn.Try(func() { panic("x") }), nn.Try(func() { nn.If(n, func() nn.Value { return m }, func() nn.Value { return m }) }))
}

func TestSmokeGrad(t *testing.T) {
	v := nn.Of([]float64{1, 2, 3})
	fmt.Println(nn.Grad(v.Mul(v).Sum(), v)[0])
	w := nn.Of([]float64{.5, -.3, .8})
	y := w.Mul(v).Sum()
	l := y.Sub(2.5).Square()
	fmt.Println(nn.Grad(l, w, y)[0], nn.Grad(l, w, y)[1], nn.Grad(nn.Grad(v.Pow(3).Sum(), v)[0].Sum(), v)[0])
	lin := nn.NewLinear(3, 2)
	loss := nn.CrossEntropy(lin.Forward(nn.Normal(0, 1, 4, 3)), nn.Of([]int{0, 1, 1, 0}))
	fmt.Println(loss, nn.Grad(loss, lin.Weight.Value(), lin.Bias.Value()))
}

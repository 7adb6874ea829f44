package nn_test

import (
	"fmt"

	"github.com/burngen/burngen/ir/nn"
)

func Example() {
	x := nn.Of([]float64{1, 2, 3, 4})
	fmt.Printf("%.4v\n", x.Sub(x.Min()).Div(x.Max().Sub(x.Min())))

	logits := nn.NewLinear(4, 10).Forward(nn.Zeros(3, 4))
	fmt.Println(logits.DType(), logits.Shape())
	// Output:
	// f32[4] [0.0000 0.3333 0.6667 1.0000]
	// f32 [3 10]
}

func ExampleGrad() {
	v := nn.Of([]float64{1, 2, 3})
	fmt.Println(nn.Grad(v.Mul(v).Sum(), v)[0])
	// Output: f32[3] [2 4 6]
}

func ExampleWhile() {
	type state struct{ Value, Steps nn.Value }
	s := nn.While(state{nn.Of(27), nn.Of(0)},
		func(s state) nn.Value { return s.Value.Greater(1) },
		func(s state) state {
			next := nn.Where(s.Value.Rem(2).Equal(0), s.Value.Div(2), s.Value.Mul(3).Add(1))
			return state{next, s.Steps.Add(1)}
		})
	fmt.Println(s.Steps)
	// Output: i64[] 111
}

func ExampleDescribe() {
	m := struct {
		Conv nn.Conv2d
		Head nn.Linear
	}{nn.NewConv2d(3, 8, 3, nn.Padding(1)), nn.NewLinear(8, 2, nn.NoBias)}
	nn.Name(m)
	fmt.Print(nn.Describe(m))
	// Output:
	// struct
	//   conv: Conv2d{kernel: [3 3], padding: [1 1]}
	//     weight f32[8,3,3,3]
	//     bias f32[8]
	//   head: Linear
	//     weight f32[2,8]
	// 240 parameters
}

package optim_test

import (
	"fmt"

	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// The example fits a line to points. It writes the gradients itself. In a program that trains, the
// Trainer of a generated package computes them.
func Example() {
	p, err := rt.NewParams([]rt.Param{{Name: "slope"}, {Name: "start", Off: 16}})
	if err != nil {
		fmt.Println(err)
		return
	}
	adam, err := optim.NewAdam(p, optim.AdamConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const steps = 400
	rate := optim.Warmup(20, optim.Cosine(0.1, 1e-3, steps))
	for step := range steps {
		p.ZeroGrad()
		for x := range 10 {
			x := float32(x) / 10
			wrong := p.Value(0)[0]*x + p.Value(1)[0] - (2*x + 1)
			p.Gradient(0)[0] += wrong * x
			p.Gradient(1)[0] += wrong
		}
		p.Renew() // a Trainer's Step does this
		p.ClipNorm(1)
		if err := adam.Step(rate(step)); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("y = %.3f x + %.3f\n", p.Value(0)[0], p.Value(1)[0])
	// Output: y = 2.000 x + 1.000
}

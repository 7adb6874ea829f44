package gpu_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/gpu/update"
	"github.com/burngen/burngen/templates/kernels"
)

// TestUpdatesAreFresh asserts that package update holds the kernels that are built now.
func TestUpdatesAreFresh(t *testing.T) {
	for name, target := range map[string]gpu.Target{"update.ptx": cuda.Target(), "update.spv": vulkan.Target()} {
		want, err := target.Updates()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../../../runtime/gpu/update/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: go generate ./runtime/gpu/update", name)
		}
		if !bytes.Equal(update.Code(target.Name()), want) {
			t.Errorf("%s: the package has other code", name)
		}
	}
	if kernels.Threads != update.Threads {
		t.Errorf("blocks of %d threads, and %d in package update", kernels.Threads, update.Threads)
	}
}

// updateCase is a kernel and what it computes on the CPU. numbers and vectors are those of the kernel.
type updateCase struct {
	name string
	run  func(c []float32, x [][]float32)
}

var updateCases = []updateCase{
	{"accumulate", func(_ []float32, x [][]float32) {
		for i, v := range x[1] {
			x[0][i] += v
		}
	}},
	{"copy", func(_ []float32, x [][]float32) { copy(x[0], x[1]) }},
	{"zero", func(_ []float32, x [][]float32) { clear(x[0]) }},
	{"scale", func(c []float32, x [][]float32) {
		for i := range x[0] {
			x[0][i] *= c[0]
		}
	}},
	{"clamp", func(c []float32, x [][]float32) {
		for i, v := range x[0] {
			if v > c[0] {
				x[0][i] = c[0]
			} else if v < -c[0] {
				x[0][i] = -c[0]
			}
		}
	}},
	{"sgd", func(c []float32, x [][]float32) {
		cpu.SGD(x[0], x[1], nil, &cpu.SGDRates{Decay: c[0], Rate: c[1]})
	}},
	{"momentum", func(c []float32, x [][]float32) {
		cpu.SGD(x[0], x[1], x[2], &cpu.SGDRates{Decay: c[0], Rate: c[1], Momentum: c[2], Keep: c[3], Direct: c[4], Heavy: c[5]})
	}},
	{"adam", func(c []float32, x [][]float32) { cpu.Adam(x[0], x[1], x[2], x[3], nil, adamRates(c)) }},
	{"amsgrad", func(c []float32, x [][]float32) { cpu.Adam(x[0], x[1], x[2], x[3], x[4], adamRates(c)) }},
	{"adagrad", func(c []float32, x [][]float32) {
		cpu.AdaGrad(x[0], x[1], x[2], &cpu.AdaGradRates{Decay: c[0], Epsilon: c[1], Rate: c[2]})
	}},
	{"rmsprop", func(c []float32, x [][]float32) { cpu.RMSProp(x[0], x[1], x[2], nil, nil, rmsPropRates(c)) }},
	{"rmsprop_momentum", func(c []float32, x [][]float32) { cpu.RMSProp(x[0], x[1], x[2], nil, x[3], rmsPropRates(c)) }},
	{"rmsprop_centered", func(c []float32, x [][]float32) { cpu.RMSProp(x[0], x[1], x[2], x[3], nil, rmsPropRates(c)) }},
	{"rmsprop_centered_momentum", func(c []float32, x [][]float32) {
		cpu.RMSProp(x[0], x[1], x[2], x[3], x[4], rmsPropRates(c))
	}},
	{"adan", func(c []float32, x [][]float32) { cpu.Adan(x[0], x[1], x[2], x[3], x[4], x[5], adanRates(c)) }},
	{"adan_first", func(c []float32, x [][]float32) {
		copy(x[2], x[1])
		cpu.Adan(x[0], x[1], x[2], x[3], x[4], x[5], adanRates(c))
	}},
	{"lion", func(c []float32, x [][]float32) {
		cpu.Lion(x[0], x[1], x[2], &cpu.LionRates{Shrink: c[0], Beta1: c[1], Rest1: c[2], Beta2: c[3], Rest2: c[4], Rate: c[5]})
	}},
}

func adamRates(c []float32) *cpu.AdamRates {
	return &cpu.AdamRates{Decay: c[0], Shrink: c[1], Beta1: c[2], Rest1: c[3], Beta2: c[4], Rest2: c[5], Scale: c[6], Epsilon: c[7], Rate: c[8], Against: c[9]}
}

func rmsPropRates(c []float32) *cpu.RMSPropRates {
	return &cpu.RMSPropRates{Decay: c[0], Alpha: c[1], Rest: c[2], Momentum: c[3], Epsilon: c[4], Rate: c[5]}
}

func adanRates(c []float32) *cpu.AdanRates {
	return &cpu.AdanRates{
		Beta1: c[0], Rest1: c[1], Beta2: c[2], Rest2: c[3], Beta3: c[4], Rest3: c[5], Scale: c[6], Epsilon: c[7],
		Rate: c[8], DifferenceRate: c[9], Before: c[10], After: c[11],
	}
}

// TestUpdates compares the kernels with package cpu, bit for bit.
func TestUpdates(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	if len(updateCases) != len(kernels.Updates) {
		t.Errorf("%d kernels, but %d cases", len(kernels.Updates), len(updateCases))
	}
	for i, u := range kernels.Updates {
		c := updateCases[i]
		if c.name != u.Name {
			t.Fatalf("case %d is %s, but the kernel is %s", i, c.name, u.Name)
		}
		t.Run(u.Name, func(t *testing.T) {
			k, err := u.Build()
			if err != nil {
				t.Fatal(err)
			}
			const n = 4 * 300
			numbers := make([]float32, len(u.Numbers))
			for i := range numbers {
				numbers[i] = 0.05 + random.Float32()
			}
			var args []kernel.Arg
			for _, c := range numbers {
				args = append(args, kernel.Number(c))
			}
			args = append(args, kernel.Number(int32(n/4)), kernel.Number(int32(256)))
			got, want := make([][]float32, len(u.Vectors)), make([][]float32, len(u.Vectors))
			for k := range got {
				got[k], want[k] = make([]float32, n), make([]float32, n)
				for i := range n {
					x := 4*random.Float32() - 2
					if name := u.Vectors[k]; name == "v" || name == "most" {
						x = random.Float32() // a sum of squares
					}
					got[k][i], want[k][i] = x, x
				}
				args = append(args, kernel.Memory(got[k]))
			}
			if err := k.Run([3]int{1, 1, 1}, args, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			c.run(numbers, want)
			for k := range got {
				for i := range n {
					if math.Float32bits(got[k][i]) != math.Float32bits(want[k][i]) {
						t.Fatalf("%s[%d] is %v, want %v", u.Vectors[k], i, got[k][i], want[k][i])
					}
				}
			}
		})
	}
}

// TestSquares adds squares in blocks.
func TestSquares(t *testing.T) {
	k, err := kernels.Squares()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 255, update.SquaresPerBlock, 2*update.SquaresPerBlock + 77} {
		x, sums := make([]float32, n), make([]float32, (n+update.SquaresPerBlock-1)/update.SquaresPerBlock)
		want := 0.0
		for i := range x {
			x[i] = random.Float32()
			want += float64(x[i]) * float64(x[i])
		}
		args := []kernel.Arg{kernel.Number(int32(n)), kernel.Memory(x), kernel.Memory(sums)}
		if err := k.Run([3]int{len(sums), 1, 1}, args, kernel.Options{}); err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for _, s := range sums {
			got += float64(s)
		}
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%d elements: %v, want %v", n, got, want)
		}
	}
}

// Package cudatest has a driver of CUDA for tests. The cards of this driver interpret PTX. The package does not know
// what kernels compute.
package cudatest

import (
	"encoding/binary"

	"github.com/burngen/burngen/internal/ptx"
	"github.com/burngen/burngen/runtime/cuda/fake"
	"github.com/burngen/burngen/runtime/gpu"
)

// Driver returns a driver of package cuda with one card. The card belongs to a fake of NVIDIA's driver, written in
// Go, which interprets PTX. The capability of the card is 8.6, because the interpreter does not run pipelined
// kernels.
func Driver() gpu.Driver {
	return fake.New(fake.Options{Machine: interpreter{}, Capability: [2]int32{8, 6}}).Driver()
}

type interpreter struct{}

func (interpreter) Load(text string) (fake.Program, error) {
	m, err := ptx.Parse(text)
	return program{m}, err
}

type program struct{ *ptx.Module }

func (p program) Kernel(name string) (fake.Kernel, bool) {
	n, err := p.Params(name)
	if err != nil {
		return fake.Kernel{}, false
	}
	k := fake.Kernel{}
	for range n {
		k.Params = append(k.Params, 8)
	}
	return k, true
}

func (p program) Launch(kernel string, grid, block [3]int, shared int, params [][]byte, memory fake.Memory) error {
	words := make([]uint64, len(params))
	for i, b := range params {
		words[i] = binary.LittleEndian.Uint64(b)
	}
	return p.Module.Launch(kernel, grid, block, shared, words, memory)
}

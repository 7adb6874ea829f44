package turns

import (
	"bytes"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"unsafe"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
)

// operand is memory of the device, and the same bytes in the memory of the host.
type operand struct {
	at   gpu.Address
	host []byte
}

// Fill writes n elements of type d to the device memory of the operand called `name`. The elements are normally
// distributed with mean 0 and standard deviation `deviation`. It returns the address of the memory.
func (c *Card) Fill(name string, d ir.DType, n int, deviation float64) (gpu.Address, error) {
	o, size := c.operands[name], n*d.Size()
	if len(o.host) != size {
		c.Device.Free(o.at)
		at, err := c.Device.Alloc(int64(size))
		if err != nil {
			return 0, err
		}
		o = operand{at, make([]byte, size)}
		c.operands[name] = o
	}
	seed := fnv.New64a() // of the name, so that operands of equal size differ
	io.WriteString(seed, name)
	r := rand.New(rand.NewPCG(1, seed.Sum64()))
	const period = 1<<20 - 3
	x := ir.NewTensor(d, min(n, period))
	for i := range x.Len() {
		x.SetFloat(i, r.NormFloat64()*deviation)
	}
	for at := 0; at < size; at += copy(o.host[at:], x.Bytes()) {
	}
	return o.at, c.Queue.Upload(o.at, o.host)
}

// Host returns the bytes of the operand called name, as [Card.Fill] wrote them.
func (c *Card) Host(name string) []byte { return c.operands[name].host }

// Poison writes size bytes of 0xff at an address. They make floats NaN.
func (c *Card) Poison(at gpu.Address, size int) error {
	poison := bytes.Repeat([]byte{0xff}, min(size, 1<<20))
	for from := 0; from < size; from += len(poison) {
		if err := c.Queue.Upload(at+gpu.Address(from), poison[:min(len(poison), size-from)]); err != nil {
			return err
		}
	}
	return nil
}

// Numbers returns a function that returns element i of data as a float64. d, the type of the elements, is f32, f16 or
// bf16.
func Numbers(d ir.DType, data []byte) func(i int) float64 {
	switch d {
	case ir.F16:
		x := unsafe.Slice((*rt.Float16)(unsafe.Pointer(&data[0])), len(data)/2)
		return func(i int) float64 { return float64(x[i].Float32()) }
	case ir.BF16:
		x := unsafe.Slice((*rt.BFloat16)(unsafe.Pointer(&data[0])), len(data)/2)
		return func(i int) float64 { return float64(x[i].Float32()) }
	}
	x := unsafe.Slice((*float32)(unsafe.Pointer(&data[0])), len(data)/4)
	return func(i int) float64 { return float64(x[i]) }
}

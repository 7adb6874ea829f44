package cuda_test

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/runtime/cuda/fake"
)

// kernels is the code of the tests. A card compiles it; the machine below knows what it computes.
//
//go:embed testdata/kernels.ptx
var kernels string

// machine is a [fake.Machine] that knows the kernels of the tests by name.
type machine struct{}

type program map[string]fake.Kernel

var entry = regexp.MustCompile(`\.entry (\w+)\(([^)]*)\)`)

func (machine) Load(ptx string) (fake.Program, error) {
	if !strings.HasPrefix(ptx, ".version") {
		return nil, errors.New("kernels.ptx, line 1; fatal   : Missing .version directive\n\nptxas fatal   : Ptx assembly aborted")
	}
	p := program{}
	for _, e := range entry.FindAllStringSubmatch(ptx, -1) {
		var k fake.Kernel
		for _, param := range strings.Split(e[2], ",") {
			k.Params = append(k.Params, map[bool]int{true: 8, false: 4}[strings.Contains(param, ".u64")])
		}
		if e[1] == "wide" {
			k.Params, k.Threads, k.Cluster = []int{128}, 32, [3]int{16, 1, 1}
		}
		if e[1] == "tile" {
			k.Params = []int{128, 8}
		}
		if e[1] == "corners" {
			k.Params = []int{128, 8, 4}
		}
		if e[1] == "cluster" {
			k.Cluster = [3]int{16, 1, 1}
		}
		p[e[1]] = k
	}
	return p, nil
}

func (p program) Log() string {
	return fmt.Sprintf("ptxas info    : %d kernels, 0 bytes spill stores\n", len(p))
}

func (p program) Kernel(name string) (fake.Kernel, bool) {
	k, ok := p[name]
	return k, ok
}

func (p program) Launch(kernel string, grid, block [3]int, shared int, params [][]byte, memory fake.Memory) error {
	integer := func(i int) uint64 {
		var b [8]byte
		copy(b[:], params[i])
		return binary.LittleEndian.Uint64(b[:])
	}
	threads := grid[0] * block[0]
	switch kernel {
	case "sum": // c[i] = a[i] + b[i]
		n := min(threads, int(integer(3)))
		var x [3][]byte
		for i := range x {
			var err error
			if x[i], err = memory.At(integer(i), 4*n); err != nil {
				return err
			}
		}
		for i := 0; i < 4*n; i += 4 {
			binary.LittleEndian.PutUint32(x[2][i:], math.Float32bits(float(x[0][i:])+float(x[1][i:])))
		}
	case "scale": // x[i] *= s
		n := min(threads, int(integer(2)))
		x, err := memory.At(integer(0), 4*n)
		if err != nil {
			return err
		}
		for i := 0; i < 4*n; i += 4 {
			binary.LittleEndian.PutUint32(x[i:], math.Float32bits(float(x[i:])*float(params[1])))
		}
	case "reverse": // out[i] = threads-1-i, through shared memory
		if shared < 4*block[0] {
			return errors.New("too little shared memory")
		}
		x, err := memory.At(integer(0), 4*block[0])
		for i := 0; err == nil && i < block[0]; i++ {
			binary.LittleEndian.PutUint32(x[4*i:], uint32(block[0]-1-i))
		}
		return err
	case "tile": // out[:] = the first box of a tensor of f16
		m, err := fake.MapOf(params[0])
		if err != nil {
			return err
		}
		from, err := memory.At(m.Address, 2*m.Extents[0]*m.Extents[1])
		if err != nil {
			return err
		}
		to, err := memory.At(integer(1), 2*m.Box[0]*m.Box[1])
		for row := 0; err == nil && row < m.Box[1]; row++ {
			copy(to[2*row*m.Box[0]:][:2*m.Box[0]], from[2*row*m.Extents[0]:])
		}
		return err
	case "corners": // out = the extents, the box, and lower, upper and step of each spatial axis, all f32
		m, err := fake.MapOf(params[0])
		if err != nil {
			return err
		}
		list := slices.Concat(m.Extents, m.Box, m.Lower, m.Upper, m.Step)
		to, err := memory.At(integer(1), 4*len(list))
		for i := 0; err == nil && i < len(list); i++ {
			binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(float32(list[i])))
		}
		return err
	case "spin":
		time.Sleep(time.Duration(integer(0)))
	case "poke":
		_, err := memory.At(integer(0), 4)
		return err
	default:
		return fmt.Errorf("no kernel %s", kernel)
	}
	return nil
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

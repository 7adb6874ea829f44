// Command products times matrix products of pipelined kernels and of PyTorch on the first NVIDIA card. The two sides
// take turns in one run. Each result is checked against sums in float64.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/templates/kernels"
)

var (
	python = flag.String("python", "", "compare with PyTorch, which the Python called `NAME` has")
	side   = flag.String("side", "torch_side.py", "the program of PyTorch's side")
	rounds = flag.Int("rounds", 5, "rounds, in which the sides take turns")
	check  = flag.Bool("check", false, "compute small products of all forms, and compare each element")
	code   = flag.String("ptx", "", "write the kernels into `FOLDER`")
	tries  = flag.String("tiles", "", "tiles to try, MxNxSTAGESxRASTER, with a t behind for groups that take turns, separated by commas, in place of the table")
	logs   = flag.Bool("log", false, "print what the compiler says about kernels")
)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// product is a product of matrices: D[m,n] = A·B.
type product struct {
	m, n, k  int
	d        ir.DType
	across   [2]bool // A is stored as [k,m], B as [k,n] and not [n,k]
	epilogue bool    // D = gelu(A·B + bias) + residual
}

// parse reads a product such as 8192x8192x8192:bf16:nt:gelu.
func parse(text string) (product, error) {
	p := product{d: ir.BF16}
	parts := strings.Split(text, ":")
	if _, err := fmt.Sscanf(parts[0], "%dx%dx%d", &p.m, &p.n, &p.k); err != nil {
		return p, fmt.Errorf("%q: %w", text, err)
	}
	for _, part := range parts[1:] {
		switch part {
		case "bf16", "f16", "f32":
			p.d, _ = ir.ParseDType(part)
		case "nn", "nt", "tn", "tt":
			p.across = [2]bool{part[0] == 't', part[1] == 'n'}
		case "gelu":
			p.epilogue = true
		default:
			return p, fmt.Errorf("%q: %q is unknown", text, part)
		}
	}
	return p, nil
}

func (p product) String() string {
	form := []byte("nt")
	if p.across[0] {
		form[0] = 't'
	}
	if p.across[1] {
		form[1] = 'n'
	}
	text := fmt.Sprintf("%dx%dx%d:%s:%s", p.m, p.n, p.k, p.d, form)
	if p.epilogue {
		text += ":gelu"
	}
	return text
}

func (p product) launch(t kernels.Tiles) (kernels.Launch, error) {
	matrices := func(across bool, width int) *kernels.Matrices {
		rows, columns := width, p.k
		if across {
			rows, columns = columns, rows
		}
		return &kernels.Matrices{Value: &ir.Value{Type: ir.TensorOf(p.d, dim.Const(rows), dim.Const(columns))}, Batch: 1, Rows: rows, Columns: columns}
	}
	y := &ir.Value{Type: ir.TensorOf(p.d, dim.Const(p.m), dim.Const(p.n))}
	bias, residual := &ir.Value{Type: ir.TensorOf(p.d, dim.Const(p.n))}, &ir.Value{Type: y.Type}
	return kernels.Pipelined("product", kernels.Factors{
		Batch: dim.Const(1), M: dim.Const(p.m), N: dim.Const(p.n), K: dim.Const(p.k), DType: ir.F32, Matrix: p.d,
		ColumnsA: p.across[0], RowsB: p.across[1], Stored: [2]*kernels.Matrices{matrices(p.across[0], p.m), matrices(p.across[1], p.n)},
		Store: func(e *kernels.Emitter, _, m, n, sum *kernel.Value) {
			i := e.Add(e.Mul(m, e.Int(p.n)), n)
			if p.epilogue {
				sum = gelu(e, p.d, e.Add(sum, e.Read(bias).Get(n)))
				sum = e.Add(sum, e.Read(residual).Get(i))
			}
			e.Write(y).Set(i, sum)
		},
	}, t)
}

// gelu returns Gelu(x) as generated packages compute it. d is the type of the product's result.
func gelu(e *kernels.Emitter, d ir.DType, x *kernel.Value) *kernel.Value {
	if d == ir.F32 {
		return e.Mul(x, elementary.Normal(e.Builder, x))
	}
	return elementary.NarrowGelu(e.Builder, x)
}

// sides holds the device and the process of PyTorch. memory holds the operands on the device, and host the same bytes
// in the memory of the host, both by the operand's name.
type sides struct {
	device gpu.Opened
	queue  gpu.Timed
	memory map[string]gpu.Address
	host   map[string][]byte
	torch  *bufio.ReadWriter
}

func run(args []string) error {
	device, err := cuda.Driver().Open(0)
	if err != nil {
		return err
	}
	defer device.Close()
	queue, err := device.Queue()
	if err != nil {
		return err
	}
	timed, ok := queue.(gpu.Timed)
	if !ok {
		return gpu.ErrNoClock
	}
	s := &sides{device: device, queue: timed, memory: map[string]gpu.Address{}, host: map[string][]byte{}}
	fmt.Printf("%s, driver %s\n", device.Info().Name, device.Info().Driver)
	if *check {
		if err := s.checkAll(); err != nil {
			return err
		}
	}
	if *python != "" {
		if err := s.start(); err != nil {
			return err
		}
	}
	for _, text := range args {
		p, err := parse(text)
		if err != nil {
			return err
		}
		tiles := []kernels.Tiles{kernels.TilesOf(p.m, p.n)}
		if *tries != "" {
			tiles = nil
			for _, text := range strings.Split(*tries, ",") {
				t := kernels.Tiles{Blocks: 132, Turns: strings.HasSuffix(text, "t")}
				if _, err := fmt.Sscanf(text, "%dx%dx%dx%d", &t.M, &t.N, &t.Stages, &t.Raster); err != nil {
					return fmt.Errorf("%q: %w", text, err)
				}
				tiles = append(tiles, t)
			}
		}
		for _, t := range tiles {
			if err := s.compare(p, t); err != nil {
				fmt.Printf("%s %+v: %v\n", p, t, err)
			}
		}
	}
	return nil
}

func (s *sides) start() error {
	c := exec.Command(*python, *side)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	s.torch = bufio.NewReadWriter(bufio.NewReader(out), bufio.NewWriter(in))
	return c.Start()
}

// ask returns the milliseconds of a product on PyTorch's side.
func (s *sides) ask(p product) (ms float64, err error) {
	fmt.Fprintf(s.torch, "%d %d %d %s %t %t %t\n", p.m, p.n, p.k, p.d, p.across[0], p.across[1], p.epilogue)
	if err := s.torch.Flush(); err != nil {
		return 0, err
	}
	line, err := s.torch.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("PyTorch's side: %w", err)
	}
	_, err = fmt.Sscan(line, &ms)
	return ms, err
}

// fill writes n random elements of type d to the device memory of the operand called name. It returns the address of
// the memory.
func (s *sides) fill(name string, d ir.DType, n int) (gpu.Address, error) {
	bytes := n * d.Size()
	if len(s.host[name]) != bytes {
		s.device.Free(s.memory[name])
		at, err := s.device.Alloc(int64(bytes))
		if err != nil {
			return 0, err
		}
		s.memory[name], s.host[name] = at, make([]byte, bytes)
	}
	seed := fnv.New64a() // of the name, so that operands of equal size differ
	io.WriteString(seed, name)
	r := rand.New(rand.NewPCG(1, seed.Sum64()))
	const period = 1<<20 - 3
	x := ir.NewTensor(d, min(n, period))
	for i := range x.Len() {
		x.SetFloat(i, r.NormFloat64()/2)
	}
	for at := 0; at < bytes; at += copy(s.host[name][at:], x.Bytes()) {
	}
	return s.memory[name], s.queue.Upload(s.memory[name], s.host[name])
}

// numbers returns a function that returns element i of data as a float64.
func numbers(d ir.DType, data []byte) func(i int) float64 {
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

type prepared struct {
	product
	kernel gpu.Kernel
	module gpu.Module
	grid   [3]int
	args   []uint64
	d      []byte // the result
	at     gpu.Address
}

// prepare compiles a product, fills its operands, and fills its result with NaN.
func (s *sides) prepare(p product, t kernels.Tiles) (*prepared, error) {
	l, err := p.launch(t)
	if err != nil {
		return nil, err
	}
	text, err := ptx.Write(l.Kernel)
	if err != nil {
		return nil, err
	}
	if *code != "" {
		name := strings.ReplaceAll(fmt.Sprintf("%s_%dx%dx%d.ptx", p, t.M, t.N, t.Stages), ":", "_")
		if err := os.WriteFile(filepath.Join(*code, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	m, err := s.device.Load([]byte(text))
	if err != nil {
		return nil, err
	}
	if logged, ok := m.(interface{ Log() string }); ok && *logs {
		fmt.Printf("%s %+v, compiled in %v:\n%s\n", p, t, time.Since(start).Round(time.Millisecond), logged.Log())
	}
	info := gpu.KernelInfo{Name: l.Kernel.Name, Block: l.Kernel.Block, Args: len(l.Kernel.Params), Shared: ptx.Dynamic(l.Kernel), Early: l.Kernel.Early}
	for i, v := range l.Kernel.Params {
		if v.Map != nil {
			info.Maps = append(info.Maps, gpu.Map{Arg: i, Type: v.Type.DType.String(), Extents: v.Map.Extents, Box: v.Map.Box})
		}
	}
	k, err := m.Kernel(info)
	if err != nil {
		return nil, err
	}
	blocks, _ := l.Grid[0].Int()
	out := &prepared{product: p, kernel: k, module: m, grid: [3]int{blocks, 1, 1}, d: make([]byte, p.m*p.n*p.d.Size())}
	names := map[int]string{0: "a", 1: "b"}
	sizes := []int{p.m * p.k, p.n * p.k}
	for i, a := range l.Args {
		name, n := names[i], 0
		switch {
		case i < 2:
			n = sizes[i]
		case a.Write != nil:
			name, n = "d", p.m*p.n
		case a.Read.Type.Rank() == 1:
			name, n = "bias", p.n
		default:
			name, n = "residual", p.m*p.n
		}
		at, err := s.fill(name, p.d, n)
		if err != nil {
			return nil, err
		}
		if name == "d" {
			out.at = at
			poison := make([]byte, len(out.d))
			for i := range poison {
				poison[i] = 0xff
			}
			if err := s.queue.Upload(at, poison); err != nil {
				return nil, err
			}
		}
		out.args = append(out.args, uint64(at))
	}
	return out, s.queue.Wait(context.Background())
}

// result computes the product once, into p.d.
func (s *sides) result(p *prepared) error {
	if err := s.queue.Launch(p.kernel, p.grid, p.args); err != nil {
		return err
	}
	if err := s.queue.Download(p.d, p.at); err != nil {
		return err
	}
	return s.queue.Wait(context.Background())
}

// verify compares the result with sums in float64: each element if `all` is true, else some rows and columns. It
// returns the norm of the difference relative to the norm of the result.
func (s *sides) verify(p *prepared, all bool) (float64, error) {
	if err := s.result(p); err != nil {
		return 0, err
	}
	d := p.product.d
	a, b, y := numbers(d, s.host["a"]), numbers(d, s.host["b"]), numbers(d, p.d)
	for i := range p.m * p.n {
		if x := y(i); x != x {
			return 0, fmt.Errorf("element (%d, %d) is %v", i/p.n, i%p.n, x)
		}
	}
	rows, columns := spread(p.m, all), spread(p.n, all)
	var off, norm float64
	for _, m := range rows {
		for _, n := range columns {
			want := 0.0
			for k := range p.k {
				i, j := m*p.k+k, n*p.k+k
				if p.across[0] {
					i = k*p.m + m
				}
				if p.across[1] {
					j = k*p.n + n
				}
				want += a(i) * b(j)
			}
			if p.epilogue {
				bias, residual := numbers(d, s.host["bias"]), numbers(d, s.host["residual"])
				x := want + bias(n)
				want = x*math.Erfc(-x/math.Sqrt2)/2 + residual(m*p.n+n)
			}
			got := y(m*p.n + n)
			off += (got - want) * (got - want)
			norm += want * want
		}
	}
	return math.Sqrt(off / norm), nil
}

// spread returns the indices from 0 to n−1. If `all` is false, it returns only n−1 and the
// multiples of max(n/48, 1).
func spread(n int, all bool) []int {
	var list []int
	for i := 0; i < n; i++ {
		if all || i%max(n/48, 1) == 0 || i == n-1 {
			list = append(list, i)
		}
	}
	return list
}

// checkAll verifies small products of every element type and order of operands, with four choices of tiles. It also
// checks that the results are the same in each run.
func (s *sides) checkAll() error {
	failed := 0
	for _, shape := range []string{"200x328x136", "64x64x64", "320x264x520"} {
		for _, d := range []string{"bf16", "f16", "f32"} {
			for _, form := range []string{"nt", "nn", "tn", "tt"} {
				for _, t := range []kernels.Tiles{{M: 128, N: 256, Stages: 4, Blocks: 132, Raster: 16}, {M: 128, N: 128, Stages: 4, Blocks: 3, Raster: 2}, {M: 128, N: 128, Turns: true, Stages: 3, Blocks: 2, Raster: 2}, {M: 64, N: 64, Stages: 3, Blocks: 132, Raster: 8}} {
					p, err := parse(shape + ":" + d + ":" + form)
					if err != nil {
						return err
					}
					if _, err := p.launch(t); err != nil {
						continue // f32, or rows of odd lengths
					}
					ready, err := s.prepare(p, t)
					if err == nil {
						var e float64
						if e, err = s.verify(ready, true); err == nil && !(e < 0.01) {
							err = fmt.Errorf("the error is %.3g", e)
						}
						for range 5 {
							before := slices.Clone(ready.d)
							if again := s.result(ready); err == nil && again == nil && !slices.Equal(before, ready.d) {
								err = fmt.Errorf("the result changes from run to run")
							}
						}
						ready.module.Close()
						fmt.Printf("%s %+v: %.2e\n", p, t, e)
					}
					if err != nil {
						failed++
						fmt.Printf("FAIL %s %+v: %v\n", p, t, err)
					}
				}
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d products are wrong", failed)
	}
	return nil
}

// compare measures a product, and PyTorch's, in turns.
func (s *sides) compare(p product, t kernels.Tiles) error {
	ready, err := s.prepare(p, t)
	if err != nil {
		return err
	}
	defer ready.module.Close()
	off, err := s.verify(ready, false)
	if err != nil {
		return err
	}
	flops := 2 * float64(p.m) * float64(p.n) * float64(p.k)
	launches := int(min(max(0.008*500e12/flops, 4), 400)) // about 8 ms
	graph, err := s.queue.Record(func(q gpu.Queue) error {
		for range launches {
			if err := q.Launch(ready.kernel, ready.grid, ready.args); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer graph.Close()
	replay := func() (float64, error) {
		for _, do := range []func() error{s.queue.Stamp, func() error { return s.queue.Replay(graph) }, s.queue.Stamp} {
			if err := do(); err != nil {
				return 0, err
			}
		}
		stamps, err := s.queue.Stamps()
		if err != nil {
			return 0, err
		}
		return stamps[1].Seconds() * 1e3 / float64(launches), nil
	}
	var ours, torch []float64
	for range *rounds {
		var laps []float64
		for range 5 {
			ms, err := replay()
			if err != nil {
				return err
			}
			laps = append(laps, ms)
		}
		ours = append(ours, median(laps[1:])) // the first warms up
		if s.torch != nil {
			ms, err := s.ask(p)
			if err != nil {
				return err
			}
			torch = append(torch, ms)
		}
	}
	turns := ""
	if t.Turns {
		turns = "t"
	}
	line := fmt.Sprintf("%-32s %3dx%3dx%d%-1s raster %2d: %8.4f ms %6.1f TFLOP/s, error %.1e", p, t.M, t.N, t.Stages, turns, t.Raster, median(ours), flops/median(ours)/1e9, off)
	if torch != nil {
		line += fmt.Sprintf(" | torch %8.4f ms %6.1f TFLOP/s | ratio %.3f", median(torch), flops/median(torch)/1e9, median(torch)/median(ours))
	}
	_, err = io.WriteString(os.Stdout, line+"\n")
	return err
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

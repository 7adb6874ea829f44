// Command products times matrix products on the first NVIDIA card: burngen's pipelined kernels and PyTorch take turns
// in one run. Each result is checked against sums in float64.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/bench/gpu/turns"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/gpu"
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

// gelu returns Gelu(x) as generated packages compute it for an element x of a product. d is the type of the product's
// result.
func gelu(e *kernels.Emitter, d ir.DType, x *kernel.Value) *kernel.Value {
	if d == ir.F32 {
		return e.Mul(x, elementary.Normal(e.Builder, x))
	}
	return elementary.NarrowGelu(e.Builder, x)
}

// sides holds the card and the process of PyTorch. Without -python, torch is nil.
type sides struct {
	*turns.Card
	torch *turns.Torch
}

func run(args []string) error {
	card, err := turns.Open(cuda.Driver())
	if err != nil {
		return err
	}
	defer card.Close()
	s := &sides{Card: card}
	fmt.Printf("%s, driver %s\n", card.Device.Info().Name, card.Device.Info().Driver)
	if *check {
		if err := s.checkAll(); err != nil {
			return err
		}
	}
	if *python != "" {
		if s.torch, err = turns.Start(*python, *side); err != nil {
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

// ask returns the milliseconds of a product on PyTorch's side.
func (s *sides) ask(p product) (ms float64, err error) {
	line := fmt.Sprintf("%d %d %d %s %t %t %t", p.m, p.n, p.k, p.d, p.across[0], p.across[1], p.epilogue)
	err = s.torch.Ask(line, &ms)
	return ms, err
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
	label := ""
	if *logs {
		label = fmt.Sprintf("%s %+v", p, t)
	}
	m, k, err := s.Load(l.Kernel, text, label)
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
		at, err := s.Fill(name, p.d, n, 0.5)
		if err != nil {
			return nil, err
		}
		if name == "d" {
			out.at = at
			if err := s.Poison(at, len(out.d)); err != nil {
				return nil, err
			}
		}
		out.args = append(out.args, uint64(at))
	}
	return out, s.Queue.Wait(context.Background())
}

// result computes the product once, into p.d.
func (s *sides) result(p *prepared) error {
	if err := s.Queue.Launch(p.kernel, p.grid, p.args); err != nil {
		return err
	}
	if err := s.Queue.Download(p.d, p.at); err != nil {
		return err
	}
	return s.Queue.Wait(context.Background())
}

// verify compares the result with sums in float64. It compares each element if `all` is true, and otherwise the
// elements of some rows and columns. It returns the norm of the difference relative to the norm of the result.
func (s *sides) verify(p *prepared, all bool) (float64, error) {
	if err := s.result(p); err != nil {
		return 0, err
	}
	d := p.product.d
	a, b, y := turns.Numbers(d, s.Host("a")), turns.Numbers(d, s.Host("b")), turns.Numbers(d, p.d)
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
				bias, residual := turns.Numbers(d, s.Host("bias")), turns.Numbers(d, s.Host("residual"))
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
	recording, err := s.Record(launches, func(q gpu.Queue) error { return q.Launch(ready.kernel, ready.grid, ready.args) })
	if err != nil {
		return err
	}
	defer recording.Close()
	var ours, torch []float64
	for range *rounds {
		ms, err := recording.Lap(1, 4)
		if err != nil {
			return err
		}
		ours = append(ours, ms)
		if s.torch != nil {
			ms, err := s.ask(p)
			if err != nil {
				return err
			}
			torch = append(torch, ms)
		}
	}
	mark := ""
	if t.Turns {
		mark = "t"
	}
	line := fmt.Sprintf("%-32s %3dx%3dx%d%-1s raster %2d: %8.4f ms %6.1f TFLOP/s, error %.1e", p, t.M, t.N, t.Stages, mark, t.Raster, turns.Median(ours), flops/turns.Median(ours)/1e9, off)
	if torch != nil {
		line += fmt.Sprintf(" | torch %8.4f ms %6.1f TFLOP/s | ratio %.3f", turns.Median(torch), flops/turns.Median(torch)/1e9, turns.Median(torch)/turns.Median(ours))
	}
	_, err = io.WriteString(os.Stdout, line+"\n")
	return err
}

// Command convolutions times convolutions on the first NVIDIA card: burngen's pipelined kernels and PyTorch take
// turns in one run. Channels are the last axis. Some elements of each result are checked against sums in float64.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/burngen/burngen/bench/gpu/turns"
	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/templates/kernels"
)

var (
	python  = flag.String("python", "", "compare with PyTorch, which the Python called `NAME` has")
	side    = flag.String("side", "torch_side.py", "the program of PyTorch's side")
	rounds  = flag.Int("rounds", 3, "rounds, in which the sides take turns")
	tries   = flag.String("tiles", "", "tiles to try, MxNxSTAGESxRASTER, with a t behind for groups that take turns, separated by commas, in place of the table")
	dynamic = flag.Bool("dynamic", false, "compile kernels for any number of images")
	rows    = flag.Bool("rows", false, "measure the kernels of all devices, which compute conv(x) + bias, in place of pipelined ones")
	logs    = flag.Bool("log", false, "print what the compiler says about kernels")
)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// convolution describes relu(conv(x) + bias + residual), where conv has a square kernel.
type convolution struct {
	images, height, width, depth int
	channels, kernel, stride     int
	d                            ir.DType
	residual                     bool
}

// parse reads a convolution such as 32x56x56x64:256:1:1:bf16:res. The numbers are images x height x width x channels
// of the input, channels of the result, extent of the kernel, and stride. The element type and `res`, for a residual,
// may be missing. The padding is such that the result has the height and width of the input if the stride is 1.
func parse(text string) (convolution, error) {
	c := convolution{d: ir.BF16}
	parts := strings.Split(text, ":")
	if len(parts) < 4 {
		return c, fmt.Errorf("%q: want images x height x width x depth:channels:kernel:stride", text)
	}
	if _, err := fmt.Sscanf(strings.Join(parts[:4], " "), "%dx%dx%dx%d %d %d %d", &c.images, &c.height, &c.width, &c.depth, &c.channels, &c.kernel, &c.stride); err != nil {
		return c, fmt.Errorf("%q: %w", text, err)
	}
	for _, part := range parts[4:] {
		switch part {
		case "bf16", "f16", "f32":
			c.d, _ = ir.ParseDType(part)
		case "res":
			c.residual = true
		default:
			return c, fmt.Errorf("%q: %q is unknown", text, part)
		}
	}
	return c, nil
}

func (c convolution) String() string {
	text := fmt.Sprintf("%dx%dx%dx%d:%d:%d:%d:%s", c.images, c.height, c.width, c.depth, c.channels, c.kernel, c.stride, c.d)
	if c.residual {
		text += ":res"
	}
	return text
}

func (c convolution) places() (h, w int) {
	pad := c.kernel / 2
	return (c.height+2*pad-c.kernel)/c.stride + 1, (c.width+2*pad-c.kernel)/c.stride + 1
}

func (c convolution) rows() int { h, w := c.places(); return c.images * h * w }

func (c convolution) terms() int { return c.kernel * c.kernel * c.depth }

// operands are the tensors of a convolution.
type operands struct{ x, weights, bias, residual, y *ir.Value }

// launch returns the launch of a pipelined kernel, and its operands. The kernel computes a product of matrices if the
// window is 1×1 and the stride is 1.
func (c convolution) launch(t kernels.Tiles) (kernels.Launch, operands, error) {
	h, w := c.places()
	images := dim.Const(c.images)
	if *dynamic {
		images = dim.Sym("N")
	}
	value := func(shape ...dim.Dim) *ir.Value { return &ir.Value{Type: ir.TensorOf(c.d, shape...)} }
	rows := images.Mul(dim.Const(h * w))
	o := operands{
		x: value(images, dim.Const(c.height), dim.Const(c.width), dim.Const(c.depth)), weights: value(dim.Consts(c.channels, c.terms())...),
		bias: value(dim.Const(c.channels)), residual: value(rows, dim.Const(c.channels)), y: value(rows, dim.Const(c.channels)),
	}
	f := kernels.Factors{
		Batch: dim.Const(1), M: rows, N: dim.Const(c.channels), K: dim.Const(c.terms()), DType: ir.F32, Matrix: c.d,
		Stored: [2]*kernels.Matrices{1: {Value: o.weights, Batch: 1, Rows: c.channels, Columns: c.terms()}},
		Store: func(e *kernels.Emitter, _, m, n, sum *kernel.Value) {
			i := e.Add(e.Mul(m, e.Int(c.channels)), n)
			sum = e.Add(sum, e.Read(o.bias).Get(n))
			if c.residual {
				sum = e.Add(sum, e.Read(o.residual).Get(i))
			}
			e.Write(o.y).Set(i, e.Max(sum, e.Float(ir.F32, 0)))
		},
	}
	if c.kernel == 1 && c.stride == 1 {
		n, _ := rows.Int()
		f.Stored[0] = &kernels.Matrices{Value: o.x, Batch: 1, Rows: n, Columns: c.depth}
	} else {
		pair := func(n int) []int { return []int{n, n} }
		f.Windows = &kernels.Windows{Value: o.x, Depth: c.depth, Kernel: pair(c.kernel), Stride: pair(c.stride), Dilation: pair(1), Pads: pair(c.kernel / 2), Places: []int{h, w}}
	}
	l, err := kernels.Pipelined("convolution", f, t)
	return l, o, err
}

// sides holds the card and the process of PyTorch, which is nil without -python.
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
	if *python != "" {
		if s.torch, err = turns.Start(*python, *side); err != nil {
			return err
		}
	}
	for _, text := range args {
		c, err := parse(text)
		if err != nil {
			return err
		}
		tiles := []kernels.Tiles{kernels.TilesOf(c.rows(), c.channels)}
		if *tries != "" && !*rows {
			if tiles, err = parseTiles(*tries); err != nil {
				return err
			}
		}
		if err := s.compare(c, tiles); err != nil {
			fmt.Printf("%s: %v\n", c, err)
		}
	}
	return nil
}

func parseTiles(list string) (tiles []kernels.Tiles, err error) {
	for _, text := range strings.Split(list, ",") {
		t := kernels.Tiles{Blocks: 132, Turns: strings.HasSuffix(text, "t")}
		if _, err := fmt.Sscanf(text, "%dx%dx%dx%d", &t.M, &t.N, &t.Stages, &t.Raster); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		tiles = append(tiles, t)
	}
	return tiles, nil
}

// memory is the memory of the operands of a convolution on the device.
type memory struct{ x, weights, bias, residual, y gpu.Address }

func (s *sides) fill(c convolution) (m memory, err error) {
	for _, o := range []struct {
		at        *gpu.Address
		name      string
		n         int
		deviation float64
	}{
		{&m.x, "x", c.images * c.height * c.width * c.depth, 1}, {&m.weights, "weights", c.channels * c.terms(), 1 / math.Sqrt(float64(c.terms()))},
		{&m.bias, "bias", c.channels, 1}, {&m.residual, "residual", c.rows() * c.channels, 1}, {&m.y, "y", c.rows() * c.channels, 1},
	} {
		if *o.at, err = s.Fill(o.name, c.d, o.n, o.deviation); err != nil {
			return m, err
		}
	}
	return m, nil
}

// compare measures a convolution with each tile, and PyTorch's, in turns.
func (s *sides) compare(c convolution, tiles []kernels.Tiles) error {
	m, err := s.fill(c)
	if err != nil {
		return err
	}
	flops := 2 * float64(c.rows()) * float64(c.channels) * float64(c.terms())
	torch := 0.0
	if s.torch != nil {
		line := fmt.Sprintf("%d %d %d %d %d %d %d %s %t", c.images, c.height, c.width, c.depth, c.channels, c.kernel, c.stride, c.d, c.residual)
		var times []float64
		for range *rounds {
			var ms float64
			if err := s.torch.Ask(line, &ms); err != nil {
				return err
			}
			times = append(times, ms)
		}
		torch = turns.Median(times)
		fmt.Printf("%-28s torch            %9.2f µs %6.1f TFLOP/s\n", c, torch*1e3, flops/torch/1e9)
	}
	for _, t := range tiles {
		mark := ""
		if t.Turns {
			mark = "t"
		}
		name := fmt.Sprintf("%dx%dx%d%s", t.M, t.N, t.Stages, mark)
		if *rows {
			name = "all devices"
		}
		ms, off, err := s.measure(c, t, m, flops)
		if err != nil {
			fmt.Printf("%-28s %-16s %v\n", c, name, err)
			continue
		}
		line := fmt.Sprintf("%-28s %-16s %9.2f µs %6.1f TFLOP/s, error %.1e", c, name, ms*1e3, flops/ms/1e9, off)
		if torch > 0 {
			line += fmt.Sprintf(", ratio %.3f", torch/ms)
		}
		fmt.Println(line)
	}
	return nil
}

// all returns the launches of the kernels that all devices run.
func (c convolution) all() ([]kernels.Launch, operands, error) {
	b := ir.NewBuilder(&ir.Func{Name: "convolution"})
	param := func(name string, shape ...int) *ir.Value {
		return b.Param(name, ir.TensorOf(c.d, dim.Consts(shape...)...))
	}
	o := operands{x: param("x", c.images, c.height, c.width, c.depth), weights: param("w", c.channels, c.kernel, c.kernel, c.depth), bias: param("b", c.channels)}
	pad := c.kernel / 2
	window := op.Window{Kernel: []int{c.kernel, c.kernel}, Strides: []int{c.stride, c.stride}, Pads: []int{pad, pad, pad, pad}}
	o.y = b.Node(last.ConvLast{Window: window, Group: 1}, o.x, o.weights, o.bias)
	launches, err := launch.Of(o.y.Def, launch.Options{Matrices: true})
	return launches, o, err
}

// measure returns the milliseconds of a convolution, and the error of its result. t is the tile of a pipelined kernel.
func (s *sides) measure(c convolution, t kernels.Tiles, m memory, flops float64) (ms, off float64, err error) {
	var launches []kernels.Launch
	var o operands
	if *rows {
		launches, o, err = c.all()
	} else {
		launches = make([]kernels.Launch, 1)
		launches[0], o, err = c.launch(t)
	}
	if err != nil {
		return 0, 0, err
	}
	number := func(d dim.Dim) (int, error) {
		n, err := d.Eval(func(string) (int64, bool) { return int64(c.images), true })
		return int(n), err
	}
	var work []func(q gpu.Queue) error
	scratch := map[*kernels.Scratch]gpu.Address{}
	for _, l := range launches {
		text, err := ptx.Write(l.Kernel)
		if err != nil {
			return 0, 0, err
		}
		label := ""
		if *logs {
			label = fmt.Sprintf("%s %+v", c, t)
		}
		module, k, err := s.Load(l.Kernel, text, label)
		if err != nil {
			return 0, 0, err
		}
		defer module.Close()
		var args []uint64
		for _, a := range l.Args {
			switch {
			case a.Write != nil:
				args = append(args, uint64(m.y))
			case a.Scratch != nil:
				if scratch[a.Scratch] == 0 {
					n, err := number(dim.Product(a.Scratch.Shape...))
					if err != nil {
						return 0, 0, err
					}
					if scratch[a.Scratch], err = s.Device.Alloc(int64(n * a.Scratch.DType.Size())); err != nil {
						return 0, 0, err
					}
					defer s.Device.Free(scratch[a.Scratch])
				}
				args = append(args, uint64(scratch[a.Scratch]))
			case a.Read == nil:
				n, err := number(a.Dim)
				if err != nil {
					return 0, 0, err
				}
				args = append(args, uint64(n))
			default:
				args = append(args, uint64(map[*ir.Value]gpu.Address{o.x: m.x, o.weights: m.weights, o.bias: m.bias, o.residual: m.residual}[a.Read]))
			}
		}
		var grid [3]int
		for i, d := range l.Grid {
			if grid[i], err = number(d); err != nil {
				return 0, 0, err
			}
		}
		work = append(work, func(q gpu.Queue) error { return q.Launch(k, grid, args) })
	}
	run := func(q gpu.Queue) error {
		for _, launch := range work {
			if err := launch(q); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.Poison(m.y, c.rows()*c.channels*c.d.Size()); err != nil {
		return 0, 0, err
	}
	if err := run(s.Queue); err != nil {
		return 0, 0, err
	}
	if off, err = s.verify(c, m.y); err != nil {
		return 0, 0, err
	}
	recording, err := s.Record(int(min(max(0.004*500e12/flops, 4), 200)), run)
	if err != nil {
		return 0, 0, err
	}
	defer recording.Close()
	var times []float64
	for range *rounds {
		if ms, err = recording.Lap(1, 4); err != nil {
			return 0, 0, err
		}
		times = append(times, ms)
	}
	return turns.Median(times), off, nil
}

// verify compares some rows of the result, and the last one, with sums in float64. It returns the norm of the difference
// relative to the norm of the result.
func (s *sides) verify(c convolution, at gpu.Address) (float64, error) {
	const some = 8
	h, w := c.places()
	x, weights := turns.Numbers(c.d, s.Host("x")), turns.Numbers(c.d, s.Host("weights"))
	bias, residual := turns.Numbers(c.d, s.Host("bias")), turns.Numbers(c.d, s.Host("residual"))
	size := c.channels * c.d.Size()
	var off, norm float64
	for i := range some {
		m := (c.rows() - 1) * i / (some - 1)
		data := make([]byte, size)
		if err := s.Queue.Download(data, at+gpu.Address(m*size)); err != nil {
			return 0, err
		}
		if err := s.Queue.Wait(context.Background()); err != nil {
			return 0, err
		}
		y := turns.Numbers(c.d, data)
		for n := range c.channels {
			sum := bias(n)
			if c.residual && !*rows {
				sum += residual(m*c.channels + n)
			}
			for cell := range c.kernel * c.kernel {
				row := m/w%h*c.stride - c.kernel/2 + cell/c.kernel
				column := m%w*c.stride - c.kernel/2 + cell%c.kernel
				if row < 0 || row >= c.height || column < 0 || column >= c.width {
					continue
				}
				from := (m/w/h*c.height+row)*c.width + column
				for k := range c.depth {
					sum += x(from*c.depth+k) * weights(n*c.terms()+cell*c.depth+k)
				}
			}
			want, got := sum, y(n)
			if !*rows {
				want = max(sum, 0)
			}
			if got != got {
				return 0, fmt.Errorf("element (%d, %d) is %v", m, n, got)
			}
			off += (got - want) * (got - want)
			norm += want * want
		}
	}
	off = math.Sqrt(off / norm)
	if !(off < 0.01) {
		return off, fmt.Errorf("the error is %.3g", off)
	}
	return off, nil
}

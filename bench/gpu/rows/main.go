// Command rows measures memory-bound kernels on the first NVIDIA card: elementwise chains, norms, softmax, losses, sums
// and copies. It compares their GB/s with a copy on the device. It takes turns with torch.compile in one run.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/bench/gpu/turns"
	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	driver "github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/gpu"
)

var (
	python = flag.String("python", "", "compare with PyTorch, which the Python called `NAME` has")
	side   = flag.String("side", "torch_side.py", "the program of PyTorch's side")
	rounds = flag.Int("rounds", 3, "rounds, in which the sides take turns")
	parts  = flag.Bool("kernels", false, "also print the time of each kernel")
	list   = flag.Bool("list", false, "print the kernels of each case, and measure nothing; needs no device")
	code   = flag.String("ptx", "", "write the kernels into `FOLDER`")
)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var cases []kase
	for _, text := range args {
		c, err := parse(text)
		if err != nil {
			return err
		}
		cases = append(cases, c)
	}
	if *list {
		for _, c := range cases {
			if err := c.print(); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
		}
		return nil
	}
	card, err := turns.Open(driver.Driver())
	if err != nil {
		return err
	}
	defer card.Close()
	s := &sides{Card: card}
	if s.copied, err = s.copyRate(); err != nil {
		return err
	}
	fmt.Printf("%s, driver %s, a kernel that copies 1 GiB moves %.0f GB/s\n", card.Device.Info().Name, card.Device.Info().Driver, s.copied)
	if *python != "" {
		if s.torch, err = turns.Start(*python, *side); err != nil {
			return err
		}
	}
	failed := 0
	for _, c := range cases {
		if err := s.compare(c); err != nil {
			failed++
			fmt.Printf("%s: %v\n", c, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return nil
}

// lowered returns the function of a case after all passes for the device.
func (c kase) lowered() (*ir.Func, error) {
	m, err := c.module()
	if err != nil {
		return nil, err
	}
	if err := pass.All(&pass.Context{Target: cuda.Target()}, m, pass.Options{}); err != nil {
		return nil, err
	}
	return m.Func(pass.Forward), nil
}

func (c kase) print() error {
	f, err := c.lowered()
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s\n", c, f)
	p := &program{}
	if err := p.plan(f); err != nil {
		return err
	}
	for i, l := range p.launches {
		if _, err := l.text(c, i); err != nil {
			return err
		}
		fmt.Printf("  %-40s grid %v, block %v\n", l.kernel.Name, l.Grid, l.kernel.Block)
	}
	return nil
}

// sides holds the card and the process of PyTorch. Without -python, torch is nil.
type sides struct {
	*turns.Card
	copied float64 // GB/s of a copy: bytes read plus bytes written
	torch  *turns.Torch
}

// ask returns the milliseconds of a case on PyTorch's side.
func (s *sides) ask(c kase) (ms float64, err error) {
	err = s.torch.Ask(fmt.Sprintf("%s %d %d %d %s %t", c.name, c.rows, c.columns, c.hidden, c.d, c.backward), &ms)
	return ms, err
}

// copyRate returns the GB/s of a kernel that copies 1 GiB: bytes read plus bytes written.
func (s *sides) copyRate() (float64, error) {
	t := ir.StaticTensor(ir.F32, 1<<28)
	f := &ir.Func{ResultNames: []string{"y"}}
	b := ir.NewBuilder(f)
	f.Results = []*ir.Value{b.Node(op.StridedCopy{Shape: t.Shape, Strides: dim.Consts(1)}, b.Param("x", t))}
	p, err := s.load(kase{}, f)
	if err != nil {
		return 0, err
	}
	defer p.close()
	ms, err := s.times(8, p.launch)
	return 2 << 30 / ms / 1e6, err
}

// times returns the milliseconds that a device takes for the work of one call of `fill`. The function `fill` adds
// work to a queue. times records the work of n calls in one graph, which the device replays. It returns the median
// time of five replays, divided by n.
func (s *sides) times(n int, fill func(q gpu.Queue) error) (float64, error) {
	recording, err := s.Record(n, fill)
	if err != nil {
		return 0, err
	}
	defer recording.Close()
	return recording.Lap(2, 5)
}

// compare checks a case on few rows, measures burngen and PyTorch in turns, and prints the medians.
func (s *sides) compare(c kase) error {
	off, err := s.check(c)
	if err != nil {
		return err
	}
	f, err := c.lowered()
	if err != nil {
		return err
	}
	p, err := s.load(c, f)
	if err != nil {
		return err
	}
	defer p.close()
	least := c.least(f)
	repeat := int(min(max(20e9/float64(least), 2), 200)) // about 10 ms
	var ours, torch []float64
	for range *rounds {
		ms, err := s.times(repeat, p.launch)
		if err != nil {
			return err
		}
		ours = append(ours, ms)
		if s.torch != nil {
			if ms, err = s.ask(c); err != nil {
				fmt.Printf("%s: %v\n", c, err)
				continue
			}
			torch = append(torch, ms)
		}
	}
	rate := func(ms float64) string {
		moved := float64(least) / ms / 1e6
		return fmt.Sprintf("%8.4f ms %5.0f GB/s %4.0f %%", ms, moved, 100*moved/s.copied)
	}
	line := fmt.Sprintf("%-38s %d kernels %s, error %.1e", c, len(p.launches), rate(turns.Median(ours)), off)
	if torch != nil {
		line += fmt.Sprintf(" | torch %s | ratio %.3f", rate(turns.Median(torch)), turns.Median(torch)/turns.Median(ours))
	}
	fmt.Println(line)
	if *parts {
		for _, l := range p.launches {
			ms, err := s.times(repeat, l.launch)
			if err != nil {
				return err
			}
			fmt.Printf("    %8.4f ms  %s\n", ms, l.kernel.Name)
		}
	}
	return nil
}

// check computes a case with few rows, and compares its results with the operators' definitions in float64. It
// returns the largest ‖got − want‖ / ‖want‖ of the results. It returns an error if this is not below 0.02.
func (s *sides) check(c kase) (float64, error) {
	c.rows = min(c.rows, 24)
	f, err := c.lowered()
	if err != nil {
		return 0, err
	}
	p, err := s.load(c, f)
	if err != nil {
		return 0, err
	}
	defer p.close()
	if err := p.launch(s.Queue); err != nil {
		return 0, err
	}
	m, err := c.module()
	if err != nil {
		return 0, err
	}
	var inputs []*ir.Tensor
	for i, v := range m.Funcs[0].Params {
		shape := make([]int, len(v.Type.Shape))
		for k, d := range v.Type.Shape {
			shape[k], _ = d.Int()
		}
		x, err := ir.DecodeTensor(v.Type.DType, shape, p.inputs[i])
		if err != nil {
			return 0, err
		}
		inputs = append(inputs, x)
	}
	want, err := (&ir.Evaluator{Module: m}).Run(m.Funcs[0], inputs)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for i, r := range f.Results {
		data := make([]byte, want[i].Len()*want[i].DType.Size())
		if err := s.Queue.Download(data, p.memory[root(p.same, r)]); err != nil {
			return 0, err
		}
		if err := s.Queue.Wait(context.Background()); err != nil {
			return 0, err
		}
		got, err := ir.DecodeTensor(want[i].DType, want[i].Shape, data)
		if err != nil {
			return 0, err
		}
		var off, norm float64
		for k := range got.Len() {
			d := got.Float(k) - want[i].Float(k)
			off += d * d
			norm += want[i].Float(k) * want[i].Float(k)
		}
		worst = math.Max(worst, math.Sqrt(off/norm))
	}
	if !(worst < 0.02) {
		return worst, fmt.Errorf("the error is %.3g", worst)
	}
	return worst, nil
}

// random returns the bytes of normally distributed numbers of type t, or of random integers in [0, limit). The
// numbers repeat after 2¹⁸ − 5 elements.
func random(t ir.Type, limit int) []byte {
	n, _ := t.Elems().Int()
	const period = 1<<18 - 5
	x := ir.NewTensor(t.DType, min(n, period))
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range x.Len() {
		if t.DType.IsFloat() {
			x.SetFloat(i, r.NormFloat64())
		} else {
			x.SetInt(i, int64(r.IntN(limit)))
		}
	}
	data, some := make([]byte, n*t.DType.Size()), x.Bytes()
	for at := copy(data, some); at < len(data); {
		at += copy(data[at:], data[:at])
	}
	return data
}

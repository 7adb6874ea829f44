package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/templates/kernels"
)

// program is a lowered function on the device. Each value has its own memory, except views.
type program struct {
	sides    *sides
	launches []*launched
	inputs   [][]byte // of the operands, in order
	modules  []gpu.Module
	// memory maps a value, or the scratch of a kernel, to its address. same maps a view to the value whose memory it
	// shares.
	memory map[any]gpu.Address
	same   map[*ir.Value]*ir.Value
}

type launched struct {
	kernels.Launch
	kernel *kernel.Kernel
	loaded gpu.Kernel
	grid   [3]int
	words  []uint64
}

// text returns the PTX of kernel i of a case. It also writes the PTX to the folder of the flag -ptx, if the flag is
// set.
func (l *launched) text(c kase, i int) (string, error) {
	text, err := ptx.Write(l.kernel)
	if err != nil || *code == "" {
		return text, err
	}
	name := strings.ReplaceAll(fmt.Sprintf("%s_%d_%s.ptx", c, i, l.kernel.Name), ":", "_")
	return text, os.WriteFile(filepath.Join(*code, name), []byte(text), 0o666)
}

func (l *launched) launch(q gpu.Queue) error { return q.Launch(l.loaded, l.grid, l.words) }

func (p *program) launch(q gpu.Queue) error {
	for _, l := range p.launches {
		if err := l.launch(q); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) close() {
	for _, m := range p.modules {
		m.Close()
	}
	for _, at := range p.memory {
		p.sides.Device.Free(at)
	}
}

func root(same map[*ir.Value]*ir.Value, v *ir.Value) *ir.Value {
	for same[v] != nil {
		v = same[v]
	}
	return v
}

// plan lists the launches of a function. It returns an error if no kernel computes one of its nodes.
func (p *program) plan(f *ir.Func) error {
	p.memory, p.same = map[any]gpu.Address{}, map[*ir.Value]*ir.Value{}
	for _, n := range f.Nodes {
		if _, ok := n.Op.(ir.Viewer); ok {
			p.same[n.Results[0]] = n.Args[0]
			continue
		}
		if _, ok := n.Results[0].ConstValue(); ok {
			continue
		}
		list, err := launch.Of(n, launch.Options{Matrices: true})
		if err != nil {
			return fmt.Errorf("%s: %w", n.Text(), err)
		}
		for _, l := range list {
			p.launches = append(p.launches, &launched{Launch: l, kernel: l.Kernel})
		}
	}
	return nil
}

// load puts a function on the device, with random operands.
func (s *sides) load(c kase, f *ir.Func) (p *program, err error) {
	p = &program{sides: s}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if err := p.plan(f); err != nil {
		return p, err
	}
	for _, v := range f.Params {
		x := random(v.Type, c.limit(v.Name))
		p.inputs = append(p.inputs, x)
		if err := p.upload(v, x); err != nil {
			return p, err
		}
	}
	for _, n := range f.Nodes {
		if x, ok := n.Results[0].ConstValue(); ok {
			if err := p.upload(n.Results[0], x.Bytes()); err != nil {
				return p, err
			}
		}
	}
	loaded := map[string]gpu.Kernel{}
	for i, l := range p.launches {
		text, err := l.text(c, i)
		if err != nil {
			return p, err
		}
		if l.loaded = loaded[text]; l.loaded == nil {
			var m gpu.Module
			if m, l.loaded, err = s.Load(l.kernel, text, ""); err != nil {
				return p, err
			}
			p.modules = append(p.modules, m)
			loaded[text] = l.loaded
		}
		for k, d := range l.Grid {
			n, ok := d.Int()
			if !ok {
				return p, fmt.Errorf("kernel %s: the grid %v is open", l.kernel.Name, l.Grid)
			}
			l.grid[k] = n
		}
		for _, a := range l.Args {
			word, err := p.word(a)
			if err != nil {
				return p, fmt.Errorf("kernel %s: %w", l.kernel.Name, err)
			}
			l.words = append(l.words, word)
		}
	}
	return p, s.Queue.Wait(context.Background())
}

func (p *program) upload(v *ir.Value, data []byte) error {
	at, err := p.alloc(v, len(data))
	if err != nil {
		return err
	}
	return p.sides.Queue.Upload(at, data)
}

// alloc returns the address of key's memory. The first call for a key allocates the memory and fills it with NaN.
func (p *program) alloc(key any, bytes int) (gpu.Address, error) {
	if at, ok := p.memory[key]; ok {
		return at, nil
	}
	at, err := p.sides.Device.Alloc(int64(bytes))
	if err != nil {
		return 0, err
	}
	p.memory[key] = at
	return at, p.sides.Poison(at, bytes)
}

func (p *program) word(a kernels.Arg) (uint64, error) {
	bytes := func(d ir.DType, shape []dim.Dim) int {
		n, _ := dim.Product(shape...).Int()
		return n * d.Size()
	}
	var at gpu.Address
	var err error
	switch {
	case a.Read != nil, a.Write != nil:
		v := a.Read
		if v == nil {
			v = a.Write
		}
		v = root(p.same, v)
		at, err = p.alloc(v, bytes(v.Type.DType, v.Type.Shape))
	case a.Scratch != nil:
		at, err = p.alloc(a.Scratch, bytes(a.Scratch.DType, a.Scratch.Shape))
	case a.Fault:
		at, err = p.alloc("fault"+strconv.Itoa(len(p.memory)), 4*kernels.FaultWords)
	case a.Round:
		return 0, nil
	default:
		n, ok := a.Dim.Int()
		if !ok {
			return 0, fmt.Errorf("the extent %s is open", a.Dim)
		}
		return uint64(n), nil
	}
	return uint64(at), err
}

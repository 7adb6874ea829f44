package gpu

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/gpu"
)

const runtimePath = "github.com/burngen/burngen/runtime/gpu"

// Language is the form of kernels that a driver loads.
type Language struct {
	Name string // of the target
	// Driver is the import path of the driver's package, and File the name of the file with the kernels.
	Driver, File string
	// Matrices says that kernels may contain [kernel.MatMulAdd].
	Matrices bool
	// Pipelined says how kernels are written that only some devices run. It is nil if no device does.
	Pipelined *Pipelined
	// Write writes kernels in this form.
	Write func(kernels ...*kernel.Kernel) ([]byte, error)
}

// Pipelined says how pipelined kernels are written, see [kernel.Kernel.IsPipelined].
type Pipelined struct {
	// File is the name of the file with the kernels, and Capability the capability of the devices that
	// run them.
	File, Capability string
	// Shared returns the bytes of shared memory that a launch needs beyond what the code declares.
	Shared func(k *kernel.Kernel) int
}

func (l Language) info(k *kernel.Kernel) gpu.KernelInfo {
	info := gpu.KernelInfo{Name: k.Name, Block: k.Block, Args: len(k.Params), Early: k.Early, Vectors: k.HasVectors()}
	if k.IsPipelined() {
		info.Shared = l.Pipelined.Shared(k)
	}
	info.Maps = MapsOf(k)
	return info
}

// MapsOf returns descriptions, for a driver, of those parameters of a kernel that are a [kernel.Map]. It returns nil
// if there are none.
func MapsOf(k *kernel.Kernel) (maps []gpu.Map) {
	for i, p := range k.Params {
		if p.Map == nil {
			continue
		}
		m := gpu.Map{Arg: i, Type: p.Type.DType.String(), Extents: p.Map.Extents, Box: p.Map.Box}
		if p.Map.Outer != nil {
			m.Outer = slices.Index(k.Params, p.Map.Outer)
		}
		if w := p.Map.Windows; w != nil {
			m.First, m.Last, m.Step = w.First, w.Last, w.Step
		}
		maps = append(maps, m)
	}
	return maps
}

// Printer returns a printer of launches, and of the steps of the host.
func (t Target) Printer() emit.Printer {
	return &printer{Printer: t.host.Printer(), language: t.Language, variables: map[string]string{}, taken: map[string]bool{}, names: map[string]int{}}
}

// printer prints a package. It prints the steps of the host as the CPU's printer does.
type printer struct {
	emit.Printer
	language  Language
	kernels   []*kernel.Kernel
	pipelined []*kernel.Kernel  // in the file of [Pipelined]
	variables map[string]string // of kernels, by their text without the name
	taken     map[string]bool   // names of kernels
	names     map[string]int    // how many numbers were added to a name that was taken
	vars      []jen.Code
}

func (p *printer) Imports() map[string]string {
	all := p.Printer.Imports()
	all[runtimePath] = "gpu"
	all[p.language.Driver] = p.language.Name
	return all
}

func (p *printer) Step(s *emit.Scope, step program.Step) []jen.Code {
	switch step := step.(type) {
	case *Launch:
		return []jen.Code{p.launch(s, step)}
	case *Rounds:
		return []jen.Code{p.rounds(s, step)}
	case *program.Copy:
		if step.To.IsContainer() || step.To.DType == ir.String {
			return p.Printer.Step(s, step)
		}
		return []jen.Code{p.Copy(s, s.Slice(step.To), s.Slice(step.From))}
	}
	return s.OnHost(step, p.Printer.Step(s, step))
}

func (p *printer) Copy(s *emit.Scope, to, from jen.Code) *jen.Statement {
	return s.Run().Dot("Copy").Call(jen.Qual(runtimePath, "Out").Call(to), jen.Qual(runtimePath, "In").Call(from))
}

func (p *printer) launch(s *emit.Scope, l *Launch) jen.Code {
	args := []jen.Code{jen.Op("&").Id(p.kernel(s, l))}
	args = append(args, s.Ints(l.Grid[:])...)
	for _, a := range l.Args {
		switch a := a.(type) {
		case *plan.Ref:
			pass := "In"
			if a.Access != plan.Read {
				pass = "Out"
			}
			args = append(args, jen.Qual(runtimePath, pass).Call(s.Slice(a)))
		case dim.Dim:
			args = append(args, jen.Qual(runtimePath, "Int").Call(s.Int(a)))
		case Wide:
			args = append(args, jen.Qual(runtimePath, "Wide").Call(s.Int(a.Dim)))
		case Round:
			args = append(args, jen.Qual(runtimePath, "Int").Call(jen.Id("i")))
		case Fault:
			args = append(args, a.print(s, l.Node))
		}
	}
	return s.Run().Dot("Launch").Call(args...)
}

// kernel returns the name of the variable that holds the kernel of a launch. Equal kernels share a variable.
func (p *printer) kernel(s *emit.Scope, l *Launch) string {
	text := anonymous(l.Kernel)
	if l.Faster != nil {
		text += anonymous(l.Faster.Kernel)
	}
	if name, ok := p.variables[text]; ok {
		return name
	}
	same := p.named(l.Kernel)
	p.kernels = append(p.kernels, same)
	name := s.Name("kernel_" + same.Name)
	p.variables[text] = name
	fields := infoFields(p.language.info(same))
	if l.Faster != nil {
		fields = append(fields, jen.Id("Faster").Op(":").Op("&").Qual(runtimePath, "Faster").Values(p.faster(l.Faster)...))
	}
	p.vars = append(p.vars, jen.Id(name).Op("=").Qual(runtimePath, "KernelInfo").Values(fields...))
	return name
}

// named returns a kernel like k with a name of its own.
func (p *printer) named(k *kernel.Kernel) *kernel.Kernel {
	same := *k
	for p.taken[same.Name] {
		p.names[k.Name]++
		same.Name = fmt.Sprintf("%s_%d", k.Name, p.names[k.Name]+1)
	}
	p.taken[same.Name] = true
	return &same
}

func (p *printer) faster(f *Faster) []jen.Code {
	same := p.named(f.Kernel)
	p.pipelined = append(p.pipelined, same)
	return []jen.Code{
		jen.Line().Id("KernelInfo").Op(":").Qual(runtimePath, "KernelInfo").Values(infoFields(p.language.info(same))...),
		jen.Line().Id("Grid").Op(":").Add(ints("[3]int", f.Grid[:])),
		jen.Line().Id("From").Op(":").Add(ints("[]int", f.From)),
		jen.Line(),
	}
}

func infoFields(k gpu.KernelInfo) []jen.Code {
	fields := []jen.Code{
		jen.Id("Name").Op(":").Lit(k.Name), jen.Id("Block").Op(":").Add(ints("[3]int", k.Block[:])), jen.Id("Args").Op(":").Lit(k.Args),
	}
	if k.Vectors {
		fields = append(fields, jen.Id("Vectors").Op(":").True())
	}
	if k.Shared != 0 {
		fields = append(fields, jen.Id("Shared").Op(":").Lit(k.Shared))
	}
	if k.Early {
		fields = append(fields, jen.Id("Early").Op(":").True())
	}
	if k.Maps != nil {
		var maps []jen.Code
		for _, m := range k.Maps {
			maps = append(maps, jen.Line().Values(mapFields(m)...))
		}
		fields = append(fields, jen.Id("Maps").Op(":").Index().Qual(runtimePath, "Map").Values(append(maps, jen.Line())...))
	}
	return fields
}

func mapFields(m gpu.Map) []jen.Code {
	fields := []jen.Code{jen.Id("Arg").Op(":").Lit(m.Arg), jen.Id("Type").Op(":").Lit(m.Type), jen.Id("Extents").Op(":").Add(ints("[]int", m.Extents))}
	if m.Outer != 0 {
		fields = append(fields, jen.Id("Outer").Op(":").Lit(m.Outer))
	}
	fields = append(fields, jen.Id("Box").Op(":").Add(ints("[]int", m.Box)))
	if m.First != nil {
		fields = append(fields, jen.Id("First").Op(":").Add(ints("[]int", m.First)), jen.Id("Last").Op(":").Add(ints("[]int", m.Last)),
			jen.Id("Step").Op(":").Add(ints("[]int", m.Step)))
	}
	return fields
}

func ints(typ string, list []int) *jen.Statement {
	var values []jen.Code
	for _, n := range list {
		values = append(values, jen.Lit(n))
	}
	return jen.Id(typ).Values(values...)
}

// anonymous returns the text of a kernel without its name, so that equal kernels have equal texts.
func anonymous(k *kernel.Kernel) string {
	same := *k
	same.Name = "kernel"
	return same.String()
}

// Ends implements [emit.Printer]. It reports whether a step checks its context itself and can end early. It is
// false for launches.
func (p *printer) Ends(step program.Step) bool {
	return len(LaunchesOf(step)) == 0 && p.Printer.Ends(step)
}

// Moves implements [emit.Printer]. It says which steps the search for NaN may leave out. It returns false for all
// steps, because the search does not read device memory.
func (p *printer) Moves(program.Step) bool { return false }

func (p *printer) Vars() (doc string, defs []jen.Code) {
	_, defs = p.Printer.Vars()
	if len(defs) == 0 {
		return "Kernels of launches.", p.vars
	}
	return "Kernels of launches, and shapes of kernel calls on the host.", append(p.vars, defs...)
}

func (p *printer) Queued(step program.Step) bool {
	switch step := step.(type) {
	case *Launch, *Rounds:
		return true
	case *program.Copy:
		return !step.To.IsContainer() && step.To.DType != ir.String
	}
	return false
}

func (*printer) OnDevice() bool { return true }

// Device implements [emit.Printer]. It returns the file of kernels and the driver of the package. The file is empty
// if the steps launch nothing. Device returns the errors of [Language.Write].
func (p *printer) Device() (*emit.Device, error) {
	var code []byte
	if len(p.kernels) > 0 {
		var err error
		if code, err = p.language.Write(p.kernels...); err != nil {
			return nil, err
		}
	}
	d := &emit.Device{Driver: p.language.Driver, File: emit.File{Name: p.language.File, Data: code}}
	if len(p.pipelined) > 0 {
		faster, err := p.language.Write(p.pipelined...)
		if err != nil {
			return nil, err
		}
		d.Faster = &emit.Faster{Capability: p.language.Pipelined.Capability, File: emit.File{Name: p.language.Pipelined.File, Data: faster}}
	}
	return d, nil
}

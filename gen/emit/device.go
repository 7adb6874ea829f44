package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

const gpuPath = "github.com/burngen/burngen/runtime/gpu"

// Device describes the additional files of a package whose target computes in device memory.
type Device struct {
	// Driver is the import path of the driver's package.
	Driver string
	// File holds the kernels. It is embedded.
	File File
	// Faster holds faster kernels for the devices of one capability. It may be nil.
	Faster *Faster
}

// Faster is a file of kernels for devices of one capability. It is embedded.
type Faster struct {
	Capability string
	File       File
}

func (d *Device) files() []File {
	switch {
	case d == nil:
		return nil
	case d.Faster == nil:
		return []File{d.File}
	}
	return []File{d.File, d.Faster.File}
}

var deviceNames = []string{"program", "code", "faster"}

// instance is the name of each field, parameter and variable that holds a model's device in generated code.
const instance = "device"

// runField is the name of the field that holds the gpu.Run in sessions and trainers. The functions that prepare
// weights have a parameter of the same name.
const runField = "run"

func (e *emitter) hasDevice() bool { return e.Printer.OnDevice() }

func (e *emitter) deviceFile() *jen.File {
	if !e.hasDevice() {
		return nil
	}
	d, err := e.Printer.Device()
	if err != nil {
		ir.FailWith(err)
	}
	e.device = d
	f := e.newFile()
	f.Anon("embed")
	f.Comment("//go:embed " + d.File.Name)
	f.Var().Id("code").String()
	fields := []jen.Code{jen.Id("Driver").Op(":").Qual(d.Driver, "Driver"), jen.Id("Code").Op(":").Op("&").Id("code")}
	if d.Faster != nil {
		f.Comment("//go:embed " + d.Faster.File.Name)
		f.Var().Id("faster").String()
		fields = append(fields, jen.Id("Faster").Op(":").Op("&").Id("faster"), jen.Id("Capability").Op(":").Lit(d.Faster.Capability))
	}
	note(f, "program is the code that runs on devices.")
	f.Var().Id("program").Op("=").Qual(gpuPath, "Program").Values(fields...)
	return f
}

func (e *emitter) instanceParam() []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{jen.Id(instance).Op("*").Qual(gpuPath, "Instance")}
}

func (e *emitter) instanceArg(device *jen.Statement) []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{device}
}

func (e *emitter) instanceVar(device *jen.Statement) []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{jen.Id(instance).Op(":=").Add(device)}
}

func (e *emitter) keepInstance() []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{jen.Id("m").Dot(instance).Op("=").Id(instance)}
}

func (e *emitter) openInstance() []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{
		jen.List(jen.Id(instance), jen.Err()).Op(":=").Id("program").Dot("Open").Call(jen.Id("options").Op("...")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
	}
}

func (e *emitter) deviceOptions() []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{jen.Id("options").Op("...").Qual(gpuPath, "Option")}
}

func (e *emitter) opens() prose {
	if !e.hasDevice() {
		return ""
	}
	return "\nIt opens the device. Options choose it and limit its memory: see gpu.Device and gpu.Memory."
}

func (e *emitter) preparesOnDevice() bool { return e.hasDevice() && len(e.prepare.Steps) > 0 }

// preparer prints the function that prepares weights. If the device computes them, the function uses
// the device in the variable [instance].
func (e *emitter) preparer() *jen.Statement {
	if !e.preparesOnDevice() {
		return jen.Id("prepare")
	}
	return jen.Qual(gpuPath, "On").Call(jen.Id(instance), jen.Id("prepare"))
}

func (e *emitter) addOn(f *jen.File) {
	if !e.hasDevice() {
		return
	}
	shared := jen.Id("m").Dot("weights").Dot("Load").Call()
	if e.preparesOnDevice() && e.Store.Form().HasRaw() {
		shared = jen.Qual(rtPath, "NewPrepared").Call(shared.Dot("Raw").Call().Dot("Fork").Call(), e.preparer())
	}
	f.Add(from("Model.On", fill{"Option_": e.deviceOptions(), "open_": e.openInstance(), "shared_": shared, "device_": e.instanceArg(jen.Id(instance))}))
}

func (e *emitter) deviceFields() []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	return []jen.Code{jen.Id(runField).Qual(gpuPath, "Run")}
}

func (e *emitter) openDevice(h *host) []jen.Code {
	if !e.hasDevice() {
		return nil
	}
	var out []jen.Code
	must := func(call *jen.Statement) {
		out = append(out, jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	run := h.self().Dot(runField)
	must(run.Clone().Dot("Open").Call(jen.Id("m").Dot(instance)))
	if h == e.trainer {
		must(h.self().Dot("TrainOn").Call(jen.Op("&").Add(run)))
	}
	return out
}

// begins reports whether fn begins a call on a device.
func (m *method) begins(fn *function) bool {
	return fn.printer.OnDevice() && (fn == m.fn || slices.Contains(m.halves, fn))
}

// beginDevice prints two calls, which begin and end the work on the device; the second is deferred. The first takes
// the arguments and results whose sizes are known before the first step. If all steps of fn are queued, beginDevice
// also prints a replay: if an earlier call with the same extents has recorded the kernels that it launched, the
// schedule replays the recording and returns.
func (m *method) beginDevice(fn *function, params []parameter) []jen.Code {
	begin := "Begin"
	if m.host.typ == "Trainer" {
		begin = "BeginTraining"
	}
	args := []jen.Code{jen.Op("&").Add(m.host.self()).Dot(runField), frame("Ctx"), frame("Arena"), frame("Weights")}
	if m.host.typ == "Trainer" {
		args = append(args, frame("Changes"))
	}
	port := func(how string, v *ir.Value, id string) {
		if v.Type.IsTensor() && v.Type.DType != ir.String && !fn.Plan.IsLate(v.Type) {
			args = append(args, jen.Qual(gpuPath, how).Call(fn.id(id)))
		}
	}
	for i, p := range fn.IR.Params {
		if isSeed := i >= len(m.in) && i < len(m.in)+len(m.seeds); isSeed && m.halves != nil && fn == m.halves[0] {
			continue // the caller passes it to the second half
		}
		port("In", p, fn.params[i])
	}
	for i, r := range fn.IR.Results[:fn.ports] {
		if m.halves != nil && fn != m.halves[0] {
			break // the first half has computed them
		}
		port("Out", r, fn.results[i])
	}
	run := m.host.self().Dot(runField)
	out := []jen.Code{
		checked(jen.Qual(gpuPath, begin).Call(args...)),
		jen.Defer().Add(run.Clone()).Dot("End").Call(jen.Op("&").Err()),
	}
	if fn.isQueued() {
		key := []jen.Code{jen.Lit(fn.names[0])}
		for _, p := range params {
			if p.typ == "int" {
				key = append(key, jen.Id(p.name))
			}
		}
		out = append(out, jen.If(run.Clone().Dot("Replays").Call(key...)).Block(jen.Return(jen.Nil())))
	}
	return out
}

// isQueued reports whether all steps of f and its callees only put work on the queue of the device.
// The work then depends on nothing but extents, and can be recorded.
func (f *function) isQueued() bool {
	return allQueued(f.printer, f.Func)
}

func allQueued(p Printer, f *program.Func) bool {
	for _, s := range f.Steps {
		switch s := s.(type) {
		case *program.Check:
		case *program.Invoke:
			if !allQueued(p, s.Callee) {
				return false
			}
		default:
			if !program.Computes(s) || !p.Queued(s) {
				return false
			}
		}
	}
	return true
}

func (e *emitter) prepareOnDevice(hasArena bool) []jen.Code {
	args := []jen.Code{jen.Id(instance), jen.Nil()}
	if hasArena {
		args[1] = jen.Id("arena")
	}
	for i, r := range e.prepare.IR.Results {
		if r.Type.DType != ir.String {
			args = append(args, jen.Qual(gpuPath, "Out").Call(jen.Id(e.prepare.results[i])))
		}
	}
	return []jen.Code{
		jen.List(jen.Id(runField), jen.Err()).Op(":=").Qual(gpuPath, "Prepare").Call(args...),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
	}
}

// Run prints the gpu.Run of the current call. The printed expression is a *gpu.Run in the function prepare, and a
// gpu.Run elsewhere.
func (s *Scope) Run() *jen.Statement { return s.f.run() }

func (f *function) run() *jen.Statement {
	if f.host == nil {
		return jen.Id(runField)
	}
	return f.host.self().Dot(runField)
}

// OnHost prints copies around the statements `printed`. The statements compute a step on the host. The operands are
// copied from the device before the statements. The results are copied to the device after them. Without a device,
// OnHost returns only `printed`.
func (s *Scope) OnHost(step program.Step, printed []jen.Code) []jen.Code {
	var reads, writes []*plan.Ref
	for _, r := range step.Refs() {
		switch r.Access {
		case plan.Read:
			reads = append(reads, r)
		case plan.Write:
			writes = append(writes, r)
		}
	}
	return slices.Concat(s.f.fetch(s.v, reads...), printed, s.f.send(s.v, writes...))
}

// fetch prints the copy of the memory of refs from the device, before the host reads it. It returns
// nil if there is nothing to copy.
func (f *function) fetch(v *views, refs ...*plan.Ref) []jen.Code {
	memory := f.shared(v, "In", refs)
	if len(memory) == 0 {
		return nil
	}
	return []jen.Code{checked(f.run().Dot("Fetch").Call(memory...))}
}

// send prints the copy of the memory of refs to the device, after the host has written it. It
// returns nil if there is nothing to copy.
func (f *function) send(v *views, refs ...*plan.Ref) []jen.Code {
	memory := f.shared(v, "Out", refs)
	if len(memory) == 0 {
		return nil
	}
	return []jen.Code{f.run().Dot("Send").Call(memory...)}
}

// trains reports whether f is a function of the trainer. Between its calls, the device
// changes the weights, so that the host may have outdated copies.
func (f *function) trains() bool { return f.host != nil && f.host.typ == "Trainer" }

// shared prints arguments for the calls that copy memory between host and device. An argument is a call of the
// function `how` of package gpu, and names memory that refs refer to. Each memory is named once. shared leaves out
// memory that is never copied: containers, strings and, except in a trainer, weights. It returns nil without a
// device.
func (f *function) shared(v *views, how string, refs []*plan.Ref) []jen.Code {
	if !f.printer.OnDevice() {
		return nil
	}
	var out []jen.Code
	seen := map[string]bool{}
	for _, r := range refs {
		if r == nil || r.IsContainer() || r.DType == ir.String || r.Place.Kind == plan.Weight && !f.trains() {
			continue
		}
		memory := f.slice(r, v)
		if text := memory.GoString(); !seen[text] {
			seen[text] = true
			out = append(out, jen.Qual(gpuPath, how).Call(memory))
		}
	}
	return out
}

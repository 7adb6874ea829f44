package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/vulkan"
	rtcuda "github.com/burngen/burngen/runtime/cuda"
	rtgpu "github.com/burngen/burngen/runtime/gpu"
	rtvulkan "github.com/burngen/burngen/runtime/vulkan"
)

var drivers = []struct {
	target gpu.Target
	driver rtgpu.Driver
}{
	{cuda.Target(), rtcuda.Driver()},
	{vulkan.Target(), rtvulkan.Driver()},
}

// named returns the target called name. The error for an unknown name lists the targets and "auto".
func named(name string) (target.Target, error) {
	found, err := target.Named(name)
	if err != nil {
		return nil, fmt.Errorf("%w, or auto", err)
	}
	return found, nil
}

// manyTargets is a flag with names of distinct targets. The name auto appends all targets that are
// not named.
type manyTargets struct {
	targets *[]target.Target
	auto    *bool
}

func (t manyTargets) String() string {
	if t.targets == nil {
		return ""
	}
	var names []string
	for _, x := range *t.targets {
		names = append(names, x.Name())
	}
	if *t.auto {
		names = append(names, gen.AutoName)
	}
	return strings.Join(names, ",")
}

func (t manyTargets) Set(text string) error {
	seen := map[string]bool{}
	*t.targets = nil
	for name := range strings.SplitSeq(text, ",") {
		if seen[name] {
			return fmt.Errorf("%s is named twice", name)
		}
		seen[name] = true
		if name == gen.AutoName {
			continue
		}
		found, err := named(name)
		if err != nil {
			return err
		}
		*t.targets = append(*t.targets, found)
	}
	if *t.auto = seen[gen.AutoName]; !*t.auto {
		return nil
	}
	for _, x := range target.All {
		if !seen[x.Name()] {
			*t.targets = append(*t.targets, x)
		}
	}
	return nil
}

// targetsHelp is the help text of -target, except for its first words and its last line. The last line, about auto,
// is allTargets for commands that only compile, and firstTarget for commands that compute.
const (
	targetsHelp = ":\n" +
		"  cpu     kernels of the CPU (default)\n" +
		"  cuda    NVIDIA GPUs\n" +
		"  vulkan  GPUs with Vulkan 1.2\n"
	allTargets  = "  auto    all of them"
	firstTarget = "  auto    the first of cuda, vulkan, cpu that the machine has"
)

const precisionHelp = "compute the products of a GPU's package in `TYPE`; sums, norms and softmax stay in f32:\n" +
	"  f32   as the CPU does (default)\n" +
	"  tf32  factors rounded to 11 significant bits; nothing else changes\n" +
	"  f16   factors of products stored in f16: half the memory, numbers up to 65504. Training scales the loss\n" +
	"  bf16  the same in bf16: 8 significant bits, the range of f32"

func precisionFlag(flags *flagSet) *gpu.Precision {
	p := new(gpu.Precision)
	flags.Var(p, "precision", precisionHelp)
	return p
}

// inPrecision returns t with its products computed in precision p. A nil t is the default target.
// It returns an error if t does not support p.
func inPrecision(t target.Target, p gpu.Precision) (target.Target, error) {
	if t == nil {
		t = target.All[0]
	}
	at, ok := target.At(t, p)
	if !ok {
		return nil, errPrecision(p)
	}
	return at, nil
}

func errPrecision(p gpu.Precision) error {
	return usagef("-precision %s needs -target cuda or vulkan: the cpu target computes in f32", p)
}

// oneTarget is a flag with the name of a target or auto.
type oneTarget struct {
	target    target.Target // nil for the default
	auto      bool
	precision *gpu.Precision
}

func (t *oneTarget) String() string {
	switch {
	case t.auto:
		return gen.AutoName
	case t.target == nil:
		return ""
	}
	return t.target.Name()
}

func (t *oneTarget) Set(text string) error {
	if t.auto = text == gen.AutoName; t.auto {
		t.target = nil
		return nil
	}
	found, err := named(text)
	t.target = found
	return err
}

// compileTarget declares -target and -precision for commands that only compile a model.
func compileTarget(flags *flagSet) *oneTarget {
	t := &oneTarget{}
	flags.Var(t, "target", "compile for `TARGET`, and say what a GPU computes and what the host does"+targetsHelp+allTargets)
	t.precision = precisionFlag(flags)
	return t
}

// runTarget declares -target and -precision for commands that run a model. intro is the start of
// the help text.
func runTarget(flags *flagSet, intro string) *oneTarget {
	t := &oneTarget{}
	flags.Var(t, "target", intro+targetsHelp+firstTarget)
	t.precision = precisionFlag(flags)
	return t
}

// check returns an error if -precision does not apply to the target. It returns nil for auto.
func (t *oneTarget) check() error {
	if t.auto {
		return nil
	}
	_, err := inPrecision(t.target, *t.precision)
	return err
}

// found returns the target that the flag names, or fallback without the flag, with -precision applied. For auto it
// chooses the first target that the machine has, and prints the target's name to w.
func (t *oneTarget) found(w io.Writer, fallback target.Target) (target.Target, error) {
	found := fallback
	if t.target != nil {
		found = t.target
	}
	if t.auto {
		var err error
		if found, err = firstOf(w); err != nil {
			return nil, err
		}
	}
	if *t.precision == gpu.F32 {
		return found, nil
	}
	return inPrecision(found, *t.precision)
}

// firstOf returns the first target that the machine has and prints its name to w.
func firstOf(w io.Writer) (target.Target, error) {
	var choices []rtgpu.Choice[target.Target]
	for _, d := range drivers {
		choices = append(choices, rtgpu.Choice[target.Target]{Target: d.target.Name(), Load: func(o ...rtgpu.Option) (target.Target, error) {
			_, err := rtgpu.Find(d.driver, o...)
			return d.target, err
		}})
	}
	choices = append(choices, rtgpu.Choice[target.Target]{Target: target.All[0].Name(), Load: func(...rtgpu.Option) (target.Target, error) {
		return target.All[0], nil
	}})
	found, err := rtgpu.First(nil, choices...)
	if err == nil {
		fmt.Fprintf(w, "-target auto: %s\n", found.Name())
	}
	return found, err
}

// onDevice opens a device for t if t needs a device to run steps, and returns the target with the
// device. Otherwise it returns t. done closes the device. onDevice returns an error if there is no
// device.
func onDevice(t target.Target) (opened target.Target, done func(), err error) {
	if t == nil || t.CanRun() {
		return t, func() {}, nil
	}
	d, err := driverOf(t)
	if err != nil {
		return nil, nil, err
	}
	index, err := rtgpu.Find(d)
	if err != nil {
		return nil, nil, err
	}
	o, err := t.(gpu.Target).Open(d, index)
	return o, func() { o.Close() }, err
}

// hasDevice returns an error if t needs a device to run packages, and the machine does not have such a device.
func hasDevice(t target.Target) error {
	if t == nil || t.CanRun() {
		return nil
	}
	d, err := driverOf(t)
	if err == nil {
		_, err = rtgpu.Find(d)
	}
	return err
}

// driverOf returns the driver of a GPU target. It returns an error for other targets.
func driverOf(t target.Target) (rtgpu.Driver, error) {
	for _, d := range drivers {
		if d.target.Name() == t.Name() {
			return d.driver, nil
		}
	}
	return nil, fmt.Errorf("-target %s: models cannot be run on it without generating", t.Name())
}

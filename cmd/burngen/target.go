package main

import (
	"fmt"
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

// drivers are the drivers of GPUs with their targets.
var drivers = []struct {
	target gpu.Target
	driver rtgpu.Driver
}{
	{cuda.Target(), rtcuda.Driver()},
	{vulkan.Target(), rtvulkan.Driver()},
}

// oneTarget is a flag with the name of a target.
type oneTarget struct{ target *target.Target }

func (t oneTarget) String() string {
	if t.target == nil || *t.target == nil {
		return ""
	}
	return (*t.target).Name()
}

func (t oneTarget) Set(text string) error {
	found, err := target.Named(text)
	if err == nil {
		*t.target = found
	}
	return err
}

// manyTargets is a flag with names of targets, each once.
type manyTargets struct{ targets *[]target.Target }

func (t manyTargets) String() string {
	if t.targets == nil {
		return ""
	}
	var names []string
	for _, x := range *t.targets {
		names = append(names, x.Name())
	}
	return strings.Join(names, ",")
}

func (t manyTargets) Set(text string) error {
	seen := map[string]bool{}
	*t.targets = nil
	for name := range strings.SplitSeq(text, ",") {
		found, err := target.Named(name)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%s is named twice", name)
		}
		seen[name] = true
		*t.targets = append(*t.targets, found)
	}
	return nil
}

// targetsHelp is the help text of -target, after the beginning of its first line.
const targetsHelp = ":\n" +
	"  cpu     kernels of the CPU (default)\n" +
	"  cuda    NVIDIA GPUs\n" +
	"  vulkan  GPUs with Vulkan 1.2"

// targetFlag declares -target for commands that compile a model and do not run it.
func targetFlag(flags *flagSet, o *gen.Options) {
	flags.Var(oneTarget{&o.Target}, "target", "compile for `TARGET`, and say what a GPU computes and what the host does"+targetsHelp)
}

// onDevice returns a target with an opened device, if it needs one to run steps.
func onDevice(t target.Target) (opened target.Target, done func(), err error) {
	if t == nil || t.CanRun() {
		return t, func() {}, nil
	}
	for _, d := range drivers {
		if d.target.Name() == t.Name() {
			o, err := d.target.Open(d.driver, 0)
			return o, func() { o.Close() }, err
		}
	}
	return nil, nil, fmt.Errorf("-target %s: models cannot be run on it without generating", t.Name())
}

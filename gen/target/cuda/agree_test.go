package cuda_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/cuda/cudatest"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/gputest"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/ir/kernel"
	driver "github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/kerneltest"
)

// ptxas is the assembler of the CUDA toolkit.
var ptxas = flag.String("ptxas", "ptxas", "assembles kernels with `PROGRAM`, if it is installed")

// TestAgreeOnCard compares kernels on the first card with the definitions of the operators. Kernels must not
// write outside of their operands. If ptxas is installed, each kernel is assembled besides, and must not spill
// registers.
func TestAgreeOnCard(t *testing.T) {
	targettest.Fewer(t, 5)
	targettest.AgreeSideBySide(t, assembling(t, gputest.Open(t, cuda.Target(), driver.Driver())))
}

// TestAgreeOnCardInPrecisions is [TestAgreeOnCard] for products in each precision below f32.
func TestAgreeOnCardInPrecisions(t *testing.T) {
	gputest.InPrecisions(t, cuda.Target(), func(t *testing.T, target gpu.Target) {
		targettest.Fewer(t, 5)
		targettest.AgreeOn(t, assembling(t, gputest.Open(t, target, driver.Driver())), targettest.Products...)
	})
}

// assembling returns a target whose kernels are assembled, too, if ptxas is installed. The test fails if one
// cannot be assembled, or spills registers.
func assembling(t *testing.T, target gpu.Target) gpu.Target {
	if path, err := exec.LookPath(*ptxas); err == nil {
		a := &assembler{Device: target.Device, ptxas: path, dir: t.TempDir(), free: make(chan bool, runtime.NumCPU()), seen: map[string]bool{}}
		t.Cleanup(func() { a.wait(t) })
		target.Device = a
	}
	return target
}

// TestKernels runs the tests that the kernels of all targets have to pass on the first card.
func TestKernels(t *testing.T) {
	targettest.Kernels(t, gputest.Open(t, cuda.Target(), driver.Driver()), kerneltest.Accuracy{})
}

// assembler is a device whose kernels are assembled in the background when they are first launched.
type assembler struct {
	gpu.Device
	ptxas, dir string
	free       chan bool // a value for each program that runs

	group sync.WaitGroup
	mu    sync.Mutex
	seen  map[string]bool
	spill int // kernels, each for two generations of cards
	errs  []error
}

func (a *assembler) Pipelines() bool { return gpu.Pipelines(a.Device) }

func (a *assembler) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	if number := a.first(k); number > 0 {
		code, err := cuda.Target().Write(k)
		if err != nil {
			return err
		}
		file := filepath.Join(a.dir, fmt.Sprint(number))
		a.free <- true
		a.group.Go(func() {
			defer func() { <-a.free }()
			generations := []string{"sm_80", "sm_90"}
			if k.IsPipelined() {
				generations = []string{"sm_90a"}
			}
			spills, err := a.assemble(file, code, generations)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.spill += spills
			if err != nil {
				a.errs = append(a.errs, err)
			}
		})
	}
	return a.Device.Launch(k, grid, args)
}

// first returns the number of a kernel that was not launched before, from 1 on, and 0 for others.
func (a *assembler) first(k *kernel.Kernel) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := k.String()
	if a.seen[text] {
		return 0
	}
	a.seen[text] = true
	return len(a.seen)
}

// wait waits for the programs that run, and reports their errors.
func (a *assembler) wait(t *testing.T) {
	a.group.Wait()
	for _, err := range a.errs {
		t.Error(err)
	}
	t.Logf("%d kernels are assembled; %d times registers spill", len(a.seen), a.spill)
}

// assemble returns an error if ptxas does not take code for these generations of cards. It counts for how many registers spill,
// which ptxas decides: kernels of unusual shapes may spill some, the golden kernels may not.
func (a *assembler) assemble(file string, code []byte, generations []string) (spills int, err error) {
	defer os.Remove(file)
	if err := os.WriteFile(file, code, 0o666); err != nil {
		return 0, err
	}
	for _, arch := range generations {
		out, err := exec.Command(a.ptxas, "-v", "-arch="+arch, "-o", os.DevNull, file).CombinedOutput()
		if err != nil {
			return spills, fmt.Errorf("%s: %w: %s\n%s", arch, err, out, code)
		}
		if strings.Contains(string(out), "spill") && !strings.Contains(string(out), " 0 bytes spill stores, 0 bytes spill loads") {
			spills++
		}
	}
	return spills, nil
}

// TestAgreeOnFake compares kernels with the definitions of the operators: they are written as PTX, and run
// by an interpreter behind the driver that the fake replaces.
func TestAgreeOnFake(t *testing.T) {
	target, err := cuda.Target().Open(cudatest.Driver(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	targettest.Fewer(t, 5)
	targettest.Agree(t, target)
}

// TestAgreeOnFakeInPrecisions is [TestAgreeOnFake] for products in each precision below f32.
func TestAgreeOnFakeInPrecisions(t *testing.T) {
	gputest.InPrecisions(t, cuda.Target(), func(t *testing.T, in gpu.Target) {
		target, err := in.Open(cudatest.Driver(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		targettest.Fewer(t, 5)
		targettest.AgreeOn(t, target, targettest.Products...)
	})
}

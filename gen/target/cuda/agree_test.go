package cuda_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/internal/ptx"
	"github.com/burngen/burngen/ir/kernel"
	driver "github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/cuda/fake"
	runtime "github.com/burngen/burngen/runtime/gpu"
)

// TestAgreeOnCard compares kernels on the first card with the definitions of the operators. If ptxas is
// installed, each kernel is assembled besides, and must not spill registers.
func TestAgreeOnCard(t *testing.T) {
	target, err := cuda.Target().Open(driver.Driver(), 0)
	if errors.Is(err, runtime.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if path, err := exec.LookPath("ptxas"); err == nil {
		target.Device = &assembler{Device: target.Device, ptxas: path, dir: t.TempDir(), seen: map[string]bool{}}
	}
	targettest.Fewer(t, 5)
	targettest.Agree(t, target)
}

// assembler is a device whose kernels are assembled before they are first launched.
type assembler struct {
	gpu.Device
	ptxas, dir string
	seen       map[string]bool
}

func (a *assembler) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	if text := k.String(); !a.seen[text] {
		a.seen[text] = true
		if err := a.assemble(k); err != nil {
			return err
		}
	}
	return a.Device.Launch(k, grid, args)
}

// assemble returns an error if ptxas does not take a kernel, or spills registers.
func (a *assembler) assemble(k *kernel.Kernel) error {
	code, err := cuda.Target().Write(k)
	if err != nil {
		return err
	}
	file := filepath.Join(a.dir, "kernel.ptx")
	if err := os.WriteFile(file, code, 0o666); err != nil {
		return err
	}
	for _, arch := range []string{"sm_80", "sm_90"} {
		out, err := exec.Command(a.ptxas, "-v", "-arch="+arch, "-o", filepath.Join(a.dir, "kernel.cubin"), file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", arch, err, out)
		}
		if strings.Contains(string(out), "spill") && !strings.Contains(string(out), " 0 bytes spill stores, 0 bytes spill loads") {
			return fmt.Errorf("%s spills registers: %s\n%s", arch, out, code)
		}
	}
	return nil
}

// TestAgreeOnFake compares kernels with the definitions of the operators: they are written as PTX, and run
// by an interpreter behind the driver that the fake replaces.
func TestAgreeOnFake(t *testing.T) {
	g := fake.New(fake.Options{Machine: interpreter{}})
	target, err := cuda.Target().Open(g.Driver(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	targettest.Fewer(t, 5)
	targettest.Agree(t, target)
}

// TestPrecisionsOnFake is [TestAgreeOnFake] with products in other precisions than f32.
func TestPrecisionsOnFake(t *testing.T) {
	for _, p := range []gpu.Precision{gpu.TF32, gpu.F16, gpu.BF16} {
		t.Run(p.String(), func(t *testing.T) {
			in := cuda.Target()
			in.Precision = p
			target, err := in.Open(fake.New(fake.Options{Machine: interpreter{}}).Driver(), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			targettest.Fewer(t, 5)
			targettest.AgreeOn(t, target, targettest.Products...)
		})
	}
}

// interpreter runs PTX as its manual says.
type interpreter struct{}

func (interpreter) Load(text string) (fake.Program, error) {
	m, err := ptx.Parse(text)
	return program{m}, err
}

type program struct{ *ptx.Module }

func (p program) Kernel(name string) (fake.Kernel, bool) {
	n, err := p.Params(name)
	if err != nil {
		return fake.Kernel{}, false
	}
	k := fake.Kernel{}
	for range n {
		k.Params = append(k.Params, 8)
	}
	return k, true
}

func (p program) Launch(kernel string, grid, block [3]int, shared int, params [][]byte, memory fake.Memory) error {
	words := make([]uint64, len(params))
	for i, b := range params {
		words[i] = binary.LittleEndian.Uint64(b)
	}
	return p.Module.Launch(kernel, grid, block, shared, words, memory)
}

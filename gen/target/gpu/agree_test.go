package gpu_test

import (
	"encoding/binary"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/gen/target/gpu/spirv"
	"github.com/burngen/burngen/gen/target/targettest"
	reader "github.com/burngen/burngen/internal/ptx"
	"github.com/burngen/burngen/ir/kernel"
)

// writer is a device that interprets kernels. It also writes them in the machine languages, and checks what
// is written.
type writer struct{ gpu.Interpreter }

func (w writer) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	text, err := ptx.Write(k)
	if err != nil {
		return err
	}
	if err := reader.Check(text); err != nil {
		return err
	}
	module, err := spirv.Write(k)
	if err != nil {
		return err
	}
	words := make([]uint32, len(module)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(module[4*i:])
	}
	if err := spirv.Check(words); err != nil {
		return err
	}
	return w.Interpreter.Launch(k, grid, args)
}

// TestAgree compares interpreted kernels, and what the host computes, with the definitions. The
// kernels can be written in all machine languages.
func TestAgree(t *testing.T) {
	targettest.Agree(t, gpu.Target{Language: interpreted.Language, Device: writer{}})
}

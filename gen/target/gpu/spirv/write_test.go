package spirv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// options are the ways to write modules.
var options = []struct {
	name string
	Options
}{{"default", Options{}}, {"words", Options{Words: true}}, {"loose", Options{Loose: true}}}

// TestValid validates the kernels of all trials with the validator of Khronos, where it is installed.
// They are in one module for each of the options.
func TestValid(t *testing.T) {
	validator, err := exec.LookPath("spirv-val")
	if err != nil {
		t.Skip("skipped: spirv-val is not installed")
	}
	validate := func(o Options, kernels ...*kernel.Kernel) error {
		code, err := o.Write(kernels...)
		if err != nil {
			return err
		}
		file := filepath.Join(t.TempDir(), "kernels.spv")
		if err := os.WriteFile(file, code, 0o600); err != nil {
			return err
		}
		if out, err := exec.Command(validator, "--target-env", "vulkan1.2", file).CombinedOutput(); err != nil {
			return fmt.Errorf("%s", bytes.TrimSpace(out))
		}
		return nil
	}
	for _, o := range options {
		t.Run(o.name, func(t *testing.T) {
			var all []*kernel.Kernel
			for _, c := range trialsOf(o.Options) {
				all = append(all, c.k)
			}
			if validate(o.Options, all...) == nil {
				return
			}
			for _, k := range all { // which ones are not valid
				if err := validate(o.Options, k); err != nil {
					t.Errorf("%s: %v", k.Name, err)
				}
			}
			if !t.Failed() {
				t.Error("the kernels are valid one by one, but not in one module")
			}
		})
	}
}

// TestSameBytes writes kernels twice.
func TestSameBytes(t *testing.T) {
	first, second := trials(), trials()
	for i, c := range first {
		if !bytes.Equal(c.write(t, Options{}), second[i].write(t, Options{})) {
			t.Errorf("%s: the bytes differ", c.name)
		}
	}
}

// TestNeeds compares the features that kernels need with what they use.
func TestNeeds(t *testing.T) {
	const always = "bufferDeviceAddress"
	const floats = "shaderDenormPreserveFloat32 shaderRoundingModeRTEFloat32 shaderSignedZeroInfNanPreserveFloat32"
	want := map[string]map[string]string{
		"default": {
			"add_i32": "", "add_f32": floats, "add_i64": "shaderInt64", "split_f64_low": "shaderFloat64", "add_f64": "shaderFloat64 shaderSignedZeroInfNanPreserveFloat64",
			"copy_global_f16_1": "shaderInt16 storageBuffer16BitAccess", "copy_global_f16_8": "", "copy_global_bool_2": "shaderInt8 storageBuffer8BitAccess", "copy_global_bool_4": "",
			"copy_shared_u8_1": "shaderInt8 storageBuffer8BitAccess", "copy_shared_u8_4": "", "copy_mixed_bf16_2": "shaderInt16",
			"atomic_add_i64_global": "shaderInt64 shaderBufferInt64Atomics", "atomic_add_i64_shared": "shaderInt64 shaderSharedInt64Atomics", "atomic_add_i32_shared": "",
		},
		"words": {"copy_global_f16_1": "", "copy_shared_u8_1": "", "copy_mixed_bf16_2": "", "add_f32": floats, "add_i64": "", "scalars": "shaderFloat64 " + floats + " shaderSignedZeroInfNanPreserveFloat64"},
		"loose": {"add_f32": "", "add_f64": "shaderFloat64", "copy_global_f16_1": "shaderInt16 storageBuffer16BitAccess"},
	}
	for _, o := range options {
		for _, c := range trials() {
			if w, ok := want[o.name][c.name]; ok {
				if got := strings.Join(o.Needs(c.k), " "); got != strings.TrimSpace(always+" "+w) {
					t.Errorf("%s with %s needs %s, want %s %s", c.name, o.name, got, always, w)
				}
				delete(want[o.name], c.name)
			}
		}
		if len(want[o.name]) > 0 {
			t.Errorf("there are no trials for %v", want[o.name])
		}
	}
}

// TestErrors writes kernels that cannot be written.
func TestErrors(t *testing.T) {
	plain := func(name string) *kernel.Kernel {
		return build(name, nil, func(b *kernel.Builder) { b.Pointer("x", ir.F32) })
	}
	// The verifier of kernels refuses these types, too, so the kernels are changed after they were built.
	loads := build("unknown", nil, func(b *kernel.Builder) {
		x := b.Pointer("x", ir.U8)
		b.Store(x, b.Int(0), b.Load(x, b.Int(1)))
	})
	small := build("small", nil, func(b *kernel.Builder) { b.Store(b.Pointer("x", ir.I32), b.Int(0), b.Scalar("n", ir.I32)) })
	loads.Params[0].Type.DType, small.Params[1].Type.DType = ir.F8E8M0, ir.I8
	lost := plain("lost")
	lost.Body.Instrs = append(lost.Body.Instrs, &kernel.Instr{Op: kernel.Neg, Args: []*kernel.Value{{Name: "v", Type: kernel.Type{DType: ir.F32}}}})
	for _, c := range []struct {
		kernels []*kernel.Kernel
		want    string
	}{
		{[]*kernel.Kernel{plain("a"), plain("b"), plain("a")}, "spirv: two kernels have the name a"},
		{[]*kernel.Kernel{loads}, "spirv: kernel unknown: f8e8m0 is not a type of kernels"},
		{[]*kernel.Kernel{small}, "spirv: kernel small: the parameter n is i8"},
		{[]*kernel.Kernel{lost}, "spirv: kernel lost: v is used before it has a value"},
	} {
		if _, err := Write(c.kernels...); err == nil || err.Error() != c.want {
			t.Errorf("got the error %v, want %s", err, c.want)
		}
	}
}

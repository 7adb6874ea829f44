// Package device tests generated packages for targets with devices, as package endtoend tests burngen.
package device

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/target"
	targetcuda "github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	targetvulkan "github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/runtime/cuda"
	runtime "github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/vulkan"
)

func TestMain(m *testing.M) { os.Exit(module.Main(m)) }

// onVulkan skips a test if the machine has no device with Vulkan. A software driver will do.
func onVulkan(t *testing.T) {
	t.Helper()
	module.Long(t)
	infos, err := vulkan.Driver().Devices()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("the device is %s", infos[0].Name)
}

// attentionNet is a block of a transformer, with input "x" of N×S×16 and output "y".
func attentionNet() *onnxtest.Model {
	m := onnxtest.New(17).Input("x", ir.F32, "N", "S", 16).Output("y", ir.F32, "N", "S", 16).
		Initializer("scale", ir.Scalar(ir.F32, .25)).
		Initializer("norm.weight", fixture.Ramp(.5, 1.5, 16)).
		Initializer("norm.bias", fixture.Ramp(-.1, .1, 16))
	for i, name := range []string{"q", "k", "v"} {
		m.Initializer(name+".weight", fixture.Wave(10+i, .5, 16, 16)).
			Node("/"+name+"/MatMul", "MatMul", []string{"x", name + ".weight"}, []string{name})
	}
	return m.
		Node("/Transpose", "Transpose", []string{"k"}, []string{"kT"}, onnxtest.Attr{Name: "perm", Value: []int{0, 2, 1}}).
		Node("/MatMul", "MatMul", []string{"q", "kT"}, []string{"scores"}).
		Node("/Mul", "Mul", []string{"scores", "scale"}, []string{"scaled"}).
		Node("/Softmax", "Softmax", []string{"scaled"}, []string{"shares"}, onnxtest.Attr{Name: "axis", Value: -1}).
		Node("/MatMul_1", "MatMul", []string{"shares", "v"}, []string{"mixed"}).
		Node("/Add", "Add", []string{"mixed", "x"}, []string{"sum"}).
		Node("/LayerNormalization", "LayerNormalization", []string{"sum", "norm.weight", "norm.bias"}, []string{"y"}, onnxtest.Attr{Name: "axis", Value: -1})
}

// reference writes a folder with the model f and the results that the kernels of the CPU compute.
func reference(t *testing.T, f fixture.Model) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), f.Name)
	file := filepath.Join(dir, "model.onnx")
	module.WriteFile(t, file, string(f.Build().Bytes()))
	m, err := gen.Load(file, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args, shapes, err := gen.SampleInputs(m.Forward.IR)
	if err != nil {
		t.Fatal(err)
	}
	results, resultShapes, err := m.Run(args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	put := func(how string, i int, name string, d ir.DType, shape []int, slice any) {
		x, err := value.FromSlice(d, shape, slice)
		if err != nil {
			t.Fatal(err)
		}
		module.WriteFile(t, filepath.Join(dir, "test_data_set_0", fmt.Sprintf("%s_%d.pb", how, i)), string(onnxtest.Tensor(name, x)))
	}
	for i, p := range m.Forward.IR.Params {
		put("input", i, p.Name, p.Type.DType, shapes[i], args[i])
	}
	for i, r := range m.Forward.IR.Results {
		put("output", i, m.Forward.IR.ResultNames[i], r.Type.DType, resultShapes[i], results[i])
	}
	return dir
}

// TestVulkanAgrees generates, builds and runs packages for Vulkan. It compares their results with
// the results of the CPU's kernels, and with references of operators that the host computes in
// part.
func TestVulkanAgrees(t *testing.T) {
	onVulkan(t)
	var dirs []string
	for _, f := range []fixture.Model{fixture.Batched, fixture.Dynamic, {Name: "attention", Build: attentionNet}} {
		dirs = append(dirs, reference(t, f))
	}
	for _, name := range []string{
		"if", "if_seq", "loop11", "loop13_seq", "scan9_sum", "sequence_map_identity_1_sequence_1_tensor_expanded",
		"string_concat", "string_split_basic", "nonzero_example", "unique_not_sorted_without_axis", "lstm_with_peepholes",
		"gru_seq_length", "reversesequence_time", "lstm_defaults", "roialign_mode_max",
	} {
		if dir, ok := corpus.Find("onnx-node/test_" + name); ok {
			dirs = append(dirs, dir)
		} else {
			t.Logf("no corpus: not tested with %s", name)
		}
	}
	for _, flag := range []string{"-exec=false", "-exec"} {
		args := append([]string{"verify", "-all", "-target", "vulkan", flag}, dirs...)
		c := exec.Command(module.Burngen(t, ""), args...)
		c.Dir = module.Root
		out, err := c.CombinedOutput()
		if sum := fmt.Sprintf("%d passed, 0 failed, 0 refused, 0 ran\n", len(dirs)); err != nil || !strings.HasSuffix(string(out), sum) {
			t.Errorf("%s: %v, want %s%s", flag, err, sum, out)
		}
	}
}

// TestVulkanPrecisions is [TestVulkanAgrees] with products in other precisions than f32.
func TestVulkanPrecisions(t *testing.T) {
	onVulkan(t)
	var dirs []string
	for _, f := range []fixture.Model{fixture.Batched, {Name: "attention", Build: attentionNet}} {
		dirs = append(dirs, reference(t, f))
	}
	for _, p := range []string{"tf32", "f16", "bf16"} {
		args := append([]string{"verify", "-all", "-target", "vulkan", "-precision", p}, dirs...)
		c := exec.Command(module.Burngen(t, ""), args...)
		c.Dir = module.Root
		out, err := c.CombinedOutput()
		if sum := fmt.Sprintf("%d passed, 0 failed, 0 refused, 0 ran\n", len(dirs)); err != nil || !strings.HasSuffix(string(out), sum) {
			t.Errorf("%s: %v, want %s%s", p, err, sum, out)
		}
	}
}

var binaries = flag.String("binaries", "", "also writes the tests of packages for GPUs as programs into this `folder`, to be run on machines without Go")

// devices are the targets with drivers of devices.
var devices = []struct {
	target gpu.Target
	driver func() runtime.Driver
}{{targetvulkan.Target(), vulkan.Driver}, {targetcuda.Target(), cuda.Driver}}

// onDevices runs a test of packages in a module for each target with devices, if the machine has a
// device or the test will run elsewhere.
func onDevices(t *testing.T, name string, prepare func(t *testing.T, m module.Module, target gpu.Target)) {
	module.Long(t)
	for _, d := range devices {
		t.Run(d.target.Name(), func(t *testing.T) {
			infos, err := d.driver().Devices()
			if err != nil && *binaries == "" {
				t.Skip(err)
			}
			m := module.New(t)
			m.RequireAll(t)
			prepare(t, m, d.target)
			m.Run(t, nil, "vet", "./...")
			keep(t, m, name+"-"+d.target.Name())
			if err == nil {
				t.Logf("the device is %s", infos[0].Name)
				m.Run(t, nil, "test", "./tests")
			}
		})
	}
}

// keep writes the module's tests as a program into the folder that -binaries names.
func keep(t *testing.T, m module.Module, name string) {
	t.Helper()
	if *binaries != "" {
		m.Run(t, nil, "test", "-c", "-ldflags=-s -w", "-o", filepath.Join(*binaries, name+".test"), "./tests")
	}
}

// copyFor copies a test for a target. The test imports Vulkan's packages.
func copyFor(t *testing.T, m module.Module, target gpu.Target, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	m.Write(t, "tests/"+filepath.Base(name), strings.ReplaceAll(string(text), `/vulkan"`, "/"+target.Name()+`"`))
}

// TestDevicePackage runs the tests in testdata/gpu. They compare a package for a GPU with a package
// for the CPU, in many goroutines and with contexts that end.
func TestDevicePackage(t *testing.T) {
	onDevices(t, "package", func(t *testing.T, m module.Module, target gpu.Target) {
		m.Generate(t, "model", fixture.Batched.Write(t), "-target", "cpu,"+target.Name())
		copyFor(t, m, target, "gpu/gpu_test.go")
	})
}

// TestDeviceTensors runs the tests in testdata/gputensor: models in a chain, with tensors in device memory.
func TestDeviceTensors(t *testing.T) {
	onDevices(t, "tensors", func(t *testing.T, m module.Module, target gpu.Target) {
		head := fixture.Model{Name: "head", Build: func() *onnxtest.Model {
			return onnxtest.New(17).Input("x", ir.F32, "N", 10).Output("y", ir.F32, "N", 2).
				Initializer("w", fixture.Wave(7, 1, 10, 2)).Node("/MatMul", "MatMul", []string{"x", "w"}, []string{"y"})
		}}
		m.Generate(t, "model", fixture.Batched.Write(t), "-target", "cpu,"+target.Name())
		m.Generate(t, "head", head.Write(t), "-target", target.Name())
		m.Generate(t, "words", fixture.Dynamic.Write(t), "-target", target.Name())
		copyFor(t, m, target, "gputensor/gputensor_test.go")
	})
}

// TestDeviceTrainer compares training with packages for a GPU, in each precision, and with a package for the CPU.
func TestDeviceTrainer(t *testing.T) {
	onDevices(t, "trainer", func(t *testing.T, m module.Module, device gpu.Target) {
		packages := map[string]target.Target{"model": nil, "model/" + device.Name(): device}
		for p, name := range gpu.Precisions {
			if device.Precision = gpu.Precision(p); device.Precision != gpu.F32 {
				packages["narrow/"+name] = device
			}
		}
		for dir, to := range packages {
			model, err := fixture.Described(to)
			if err != nil {
				t.Fatal(err)
			}
			files, err := model.Files()
			if err != nil {
				t.Fatal(err)
			}
			m.Add(t, dir, files)
		}
		copyFor(t, m, device, "gputrain/gputrain_test.go")
		copyFor(t, m, device, "gputrain/precision_test.go")
	})
}

// TestDeviceLearning trains models of the examples on devices and on the CPU, with packages that choose their
// target. It runs if -binaries or -every is given: it builds nine packages, and takes minutes with a software driver.
func TestDeviceLearning(t *testing.T) {
	if *binaries == "" && !*module.Every {
		t.Skip("neither -binaries nor -every")
	}
	var found []string
	for _, d := range devices {
		if infos, err := d.driver().Devices(); err == nil {
			t.Logf("the device of %s is %s", d.target.Name(), infos[0].Name)
			found = append(found, d.target.Name())
		}
	}
	if found == nil && *binaries == "" {
		t.Skip("there is no device")
	}
	m := module.New(t)
	m.RequireAll(t)
	for name, flags := range map[string][]string{"text": nil, "mnist": {"-set", "Classes=10"}, "finetune": nil} {
		m.Generate(t, name, filepath.Join(module.Root, "examples", name, "model"), append(flags, "-train", "-target", "auto")...)
	}
	m.Copy(t, "tests", "learning/learning_test.go")
	m.Run(t, nil, "vet", "./tests")
	keep(t, m, "learning")
	for _, name := range found {
		m.Run(t, []string{"BURNGEN_TARGET=" + name}, "test", "./tests")
	}
}

// TestAuto runs a package that chooses its target. It runs it with a software driver for Vulkan,
// which the package uses only if it is forced, and without a driver. The test binary has every
// target.
func TestAuto(t *testing.T) {
	module.Long(t)
	m := module.New(t)
	m.RequireAll(t)
	m.Generate(t, "model", fixture.Batched.Write(t), "-target", "auto")
	m.Copy(t, "tests", "auto/auto_test.go")
	m.Run(t, nil, "vet", "./model/auto", "./tests")
	binary := m.Path("tests.exe")
	m.Run(t, nil, "test", "-c", "-o", binary, "./tests")
	const noDriver = "VK_ICD_FILENAMES=/no/such/driver.json"
	for _, c := range [][]string{
		{"WANT=cpu", "BURNGEN_TARGET=cpu"},
		{"WANT=BURNGEN_TARGET=\"metal\": one of cuda, vulkan, cpu expected", "BURNGEN_TARGET=metal"},
		{"WANT=BURNGEN_TARGET=vulkan: vulkan: no usable GPU: ", "BURNGEN_TARGET=vulkan", noDriver},
		onCUDA("WANT=BURNGEN_TARGET=cuda: cuda: no usable GPU: ", "WANT=cuda", "BURNGEN_TARGET=cuda"),
		onCUDA("WANT=cpu", "WANT=cuda", noDriver),
		onCUDA("WANT="+firstOfVulkan(), "WANT=cuda"),
	} {
		t.Run(strings.Join(c, " "), func(t *testing.T) { testOf(t, m, binary, c) })
	}
	if _, err := vulkan.Devices(); err == nil {
		testOf(t, m, binary, []string{"WANT=vulkan", "BURNGEN_TARGET=vulkan"})
	}
}

// onCUDA returns the environment of a test. Its first variable is without on machines without CUDA,
// and with on other machines.
func onCUDA(without, with string, more ...string) []string {
	if _, err := cuda.Devices(); err == nil {
		without = with
	}
	return append([]string{without}, more...)
}

// firstOfVulkan returns the target that a package chooses on a machine without CUDA.
func firstOfVulkan() string {
	if list, err := vulkan.Devices(); err == nil && !list[0].Software {
		return "vulkan"
	}
	return "cpu"
}

// testOf runs the binary of a package's tests.
func testOf(t *testing.T, m module.Module, binary string, env []string) {
	t.Helper()
	c := exec.Command(binary)
	c.Dir, c.Env = m.Dir, append(os.Environ(), env...)
	module.Output(t, c)
}

// TestAutoTrainer trains with a package that chooses its target.
func TestAutoTrainer(t *testing.T) {
	onVulkan(t)
	m := module.New(t)
	m.RequireAll(t)
	var packages []gen.Packaged
	for i, to := range target.All {
		dir := "model"
		if i > 0 {
			dir += "/" + to.Name()
		}
		model, err := fixture.Described(to)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, gen.Packaged{Model: model, Dir: m.Path(dir)})
	}
	folders, err := gen.Packages(packages, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		dir, err := filepath.Rel(m.Dir, f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		m.Add(t, filepath.ToSlash(dir), f.Files)
	}
	m.Copy(t, "tests", "autotrain/autotrain_test.go")
	m.Run(t, nil, "vet", "./model/auto", "./tests")
	for _, name := range []string{"cpu", "vulkan"} {
		m.Run(t, []string{"BURNGEN_TARGET=" + name, "WANT=" + name}, "test", "./tests")
	}
}

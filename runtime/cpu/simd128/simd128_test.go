package simd128

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// kernelTests are the files of package cpu with the tests that are run with the kernels of the module.
var kernelTests = []string{"kerneltest_test.go", "dense_test.go", "product_wasm_test.go", "pointwise_test.go", "reduce_test.go", "recurrent_cell_test.go"}

// TestKernels builds tests of package cpu for WebAssembly, and runs them with the module's kernels in this process.
func TestKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	path := filepath.Join(t.TempDir(), "cpu.wasm")
	build := exec.Command("go", append([]string{"test", "-c", "-tags=simd128", "-ldflags=-s -w", "-o", path}, kernelTests...)...)
	build.Dir = ".."
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	program, err := r.CompileModule(ctx, binary)
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := r.CompileModule(ctx, Module)
	if err != nil {
		t.Fatal(err)
	}
	exports := kernels.ExportedFunctions()
	imports := 0
	for _, f := range program.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "kernels" {
			imports++
			if exports[name] == nil {
				t.Errorf("the module has no function %s", name)
			}
		}
	}
	if imports == 0 {
		t.Fatal("the program imports no kernel")
	}
	var kernel api.Module
	calls := map[string]int{}
	host := r.NewHostModuleBuilder("kernels")
	for name, f := range exports {
		call := func(ctx context.Context, _ api.Module, stack []uint64) {
			calls[name]++
			if err := kernel.ExportedFunction(name).CallWithStack(ctx, stack); err != nil {
				panic(err)
			}
		}
		host.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(call), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	if _, err := host.Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	config := wazero.NewModuleConfig().WithName("go").WithStartFunctions().WithStdout(&out).WithStderr(&out).
		WithSysWalltime().WithSysNanotime().WithArgs("cpu.test", "-test.short", "-test.run=^Test/simd128")
	p, err := r.InstantiateModule(ctx, program, config)
	if err != nil {
		t.Fatal(err)
	}
	if kernel, err = r.InstantiateModule(ctx, kernels, wazero.NewModuleConfig().WithName("")); err != nil {
		t.Fatal(err)
	}
	if _, err = p.ExportedFunction("_start").Call(ctx); err.Error() != "module closed with exit_code(0)" {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, name := range []string{"tile", "depthwise", "windowMax", "windowRows", "winogradSpread4", "add", "exp", "sum", "softmaxRows", "lstmCell"} {
		if calls[name] == 0 {
			t.Errorf("%s was not called", name)
		}
	}
	t.Logf("%d of %d kernels were called", len(calls), len(exports))
}

// memoryModule is a module of WebAssembly that exports a page of memory, 64 KiB.
const memoryModule = "\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x07\x0a\x01\x06memory\x02\x00"

// TestMemoryEnd calls kernels whose operands end where the memory does. An access behind them would be an error.
func TestMemoryEnd(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	m, err := r.InstantiateWithConfig(ctx, []byte(memoryModule), wazero.NewModuleConfig().WithName("go"))
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := r.InstantiateWithConfig(ctx, Module, wazero.NewModuleConfig().WithName("kernels"))
	if err != nil {
		t.Fatal(err)
	}
	memory := m.Memory()
	size := memory.Size()
	// place writes floats that end at an offset, and returns where they begin.
	place := func(end uint32, values []float32) uint64 {
		at := end - uint32(4*len(values))
		var data []byte
		for _, v := range values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		if !memory.Write(at, data) {
			t.Fatal("out of memory")
		}
		return uint64(at)
	}
	read := func(at uint64) float32 {
		v, ok := memory.ReadFloat32Le(uint32(at))
		if !ok {
			t.Fatal("out of memory")
		}
		return v
	}
	call := func(name string, args ...uint64) float32 {
		out, err := kernels.ExportedFunction(name).Call(ctx, args...)
		if err != nil {
			t.Fatalf("%s%v: %v", name, args, err)
		}
		if len(out) == 0 {
			return 0
		}
		return api.DecodeF32(out[0])
	}
	for n := 1; n <= 37; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, ones := make([]float32, n), make([]float32, n)
			sum := float32(0)
			for i := range x {
				x[i], ones[i] = float32(i), 1
				sum += x[i]
			}
			// The result has the place of the operand at the end.
			b := place(size, x)
			a := place(uint32(b), ones)
			call("add", b, a, b, uint64(n))
			for i := range x {
				if got := read(b + uint64(4*i)); got != x[i]+1 {
					t.Errorf("add: element %d is %v, want %v", i, got, x[i]+1)
				}
			}
			b = place(size, x)
			if got := call("sum", b, uint64(n)); got != sum {
				t.Errorf("sum: %v, want %v", got, sum)
			}
			place(size, ones)
			before := read(b - 4)
			call("softmaxRows", b, b, 1, uint64(n))
			for i := range x {
				if got := read(b + uint64(4*i)); math.Abs(float64(got-1/float32(n))) > 1e-6 {
					t.Errorf("softmaxRows: element %d is %v of %d", i, got, n)
				}
			}
			if after := read(b - 4); after != before {
				t.Errorf("softmaxRows wrote %v before its operand", after)
			}
		})
	}
}

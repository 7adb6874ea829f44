package vulkan

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
)

// TestMain runs the tests with an empty cache, and with the validation layer where it is installed.
// BURNGEN_VULKAN_VALIDATION=0 turns it off, as benchmarks need.
func TestMain(m *testing.M) {
	cache, err := os.MkdirTemp("", "burngen-vulkan")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		os.Setenv(name, cache)
	}
	if os.Getenv("BURNGEN_VULKAN_VALIDATION") == "" {
		os.Setenv("BURNGEN_VULKAN_VALIDATION", "1")
		if _, err := connect(); err != nil {
			fmt.Println("without the validation layer:", err)
			os.Setenv("BURNGEN_VULKAN_VALIDATION", "0")
		}
	}
	code := m.Run()
	if in := connection.instance; in != nil {
		in.log.join(&err)
	}
	if err != nil {
		fmt.Println(err)
		code = max(code, 1)
	}
	os.RemoveAll(cache)
	os.Exit(code)
}

// onDevices runs a test on every device. It skips the test where there is none.
func onDevices(t *testing.T, test func(t *testing.T, d *device)) {
	t.Helper()
	list, err := Devices()
	if err != nil {
		t.Skip("there is no device: ", err)
	}
	for _, info := range list {
		t.Run(info.Name, func(t *testing.T) {
			test(t, open(t, info.Index))
		})
	}
}

// open opens a device, which the end of the test closes.
func open(t testing.TB, index int) *device {
	t.Helper()
	d, err := Driver().Open(index)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(*device)
}

// loaded loads the test's module and returns its kernels.
func loaded(t testing.TB, d gpu.Opened) map[string]gpu.Kernel {
	t.Helper()
	m, err := d.Load(testModule())
	if err != nil {
		t.Fatal(err)
	}
	kernels := map[string]gpu.Kernel{}
	for name, args := range testKernels {
		block := [3]int{64, 1, 1}
		if name == "sum20" {
			block = [3]int{1, 1, 1}
		}
		if kernels[name], err = m.Kernel(gpu.KernelInfo{Name: name, Block: block, Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	return kernels
}

func openQueue(t testing.TB, d gpu.Opened) gpu.Queue {
	t.Helper()
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func allocate(t testing.TB, d gpu.Opened, bytes int) gpu.Address {
	t.Helper()
	at, err := d.Alloc(int64(bytes))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// forever is what tests pass to Wait: a context may be nil.
var forever context.Context

// must fails the test at the first error.
func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wantError fails unless an error has this text.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
}

func floats(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func float(b []byte, i int) float32 { return math.Float32frombits(word(b, i)) }
func word(b []byte, i int) uint32   { return binary.LittleEndian.Uint32(b[4*i:]) }

func TestShadersAreValid(t *testing.T) {
	tool, err := exec.LookPath("spirv-val")
	if err != nil {
		t.Skip("there is no spirv-val")
	}
	file := filepath.Join(t.TempDir(), "test.spv")
	must(t, os.WriteFile(file, testModule(), 0o600))
	if out, err := exec.Command(tool, "--target-env", "vulkan1.2", file).CombinedOutput(); err != nil {
		t.Errorf("spirv-val: %v\n%s", err, out)
	}
}

func TestWithoutDevice(t *testing.T) {
	if _, err := Devices(); err != nil {
		if got := fmt.Sprintf("%v", err); !strings.HasPrefix(got, "vulkan: "+gpu.ErrNoDevice.Error()) {
			t.Errorf("error %q", got)
		}
		_, other := Driver().Open(0)
		if other == nil {
			t.Error("a device is opened though there is none")
		}
	} else if runtime.GOOS == "js" {
		t.Error("a browser has devices")
	}
	_, err := Driver().Open(1000)
	wantError(t, err, gpu.ErrNoDevice.Error())
	_, err = Driver().Open(-1)
	wantError(t, err, gpu.ErrNoDevice.Error())
}

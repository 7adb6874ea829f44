package spirv

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/vulkan"
)

// TestRun runs every trial on every Vulkan device, with the validation layer where it is installed:
// with the default options, in words where that makes a difference, and as the device chooses. Loose kernels
// may compute something else.
func TestRun(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("MESA_SHADER_CACHE_DISABLE", "true") // it writes in a thread of its own, when the folder is removed
	t.Setenv("BURNGEN_VULKAN_VALIDATION", "1")
	devices, err := vulkan.Devices()
	if err != nil {
		t.Logf("without the validation layer: %v", err)
		t.Setenv("BURNGEN_VULKAN_VALIDATION", "")
		devices, err = vulkan.Devices()
	}
	if errors.Is(err, gpu.ErrNoDevice) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range devices {
		t.Run(info.Name, func(t *testing.T) {
			d, err := vulkan.Driver().Open(info.Index)
			if err != nil {
				t.Fatal(err)
			}
			t.Run("default", func(t *testing.T) { runAll(t, d, Options{}, trials()) })
			inWords := slices.DeleteFunc(trialsOf(Options{Words: true}), func(c trial) bool {
				return bytes.Equal(c.write(t, Options{}), c.write(t, Options{Words: true}))
			})
			t.Run("words", func(t *testing.T) { runAll(t, d, Options{Words: true}, inWords) })
			t.Run("portable", func(t *testing.T) { runPortable(t, d) })
			if err := d.Close(); err != nil { // with what the validation layer has found
				t.Error(err)
			}
		})
	}
}

// runAll runs the trials that a device has the features for.
func runAll(t *testing.T, d gpu.Opened, o Options, trials []trial) {
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range trials {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range o.Needs(c.k) {
				if slices.Contains(sometimesThere, name) && !slices.Contains(d.Info().Features, name) {
					t.Skipf("skipped: the device lacks %s", name)
				}
			}
			m, err := d.Load(c.write(t, o))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			c.run(t, d, m, q)
		})
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// runPortable runs the trials of all kernels that have a form for every device, from one piece of code. The device
// chooses the form.
func runPortable(t *testing.T, d gpu.Opened) {
	var all []trial
	var kernels []*kernel.Kernel
	for _, c := range trials() {
		if (Options{}).writePortable(newModule(), c.k) || (Options{Words: true}).writePortable(newModule(), c.k) {
			all, kernels = append(all, c), append(kernels, c.k)
		}
	}
	code, err := Portable(kernels...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(code)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) { c.run(t, d, m, q) })
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// guard returns n bytes that surround arrays in device memory. Kernels must not change them.
func guard(n int) []byte { return bytes.Repeat([]byte{0xa5}, n) }

// run runs a trial.
func (c trial) run(t *testing.T, d gpu.Opened, m gpu.Module, q gpu.Queue) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	k, err := m.Kernel(gpu.KernelInfo{Name: c.k.Name, Block: c.k.Block, Args: len(c.k.Params)})
	must(err)
	front := 256 + c.shift
	var args []uint64
	var places []gpu.Address
	var arrays [][]byte
	for _, a := range c.args {
		before, isArray := a.([]byte)
		if !isArray {
			args = append(args, a.(uint64))
			continue
		}
		whole := slices.Concat(guard(front), before, guard(256))
		at, err := d.Alloc(int64(len(whole)))
		must(err)
		defer d.Free(at)
		must(q.Upload(at, whole))
		args = append(args, uint64(at)+uint64(front))
		places, arrays = append(places, at), append(arrays, whole)
	}
	must(q.Launch(k, c.grid, args))
	for i, at := range places {
		must(q.Download(arrays[i], at))
	}
	must(q.Wait(t.Context()))
	for i, a := range arrays {
		end := len(a) - 256
		if !bytes.Equal(a[:front], guard(front)) || !bytes.Equal(a[end:], guard(256)) {
			t.Errorf("array %d: the kernel stored outside of it", i)
		}
		arrays[i] = a[front:end]
	}
	c.check(t, arrays)
}

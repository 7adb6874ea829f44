package spirv

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/kernel"
)

// modules splits code into its modules.
func modules(t *testing.T, code []byte) [][]uint32 {
	var all [][]uint32
	for _, w := range words(code) {
		if w == magic {
			all = append(all, nil)
		}
		if len(all) == 0 {
			t.Fatal("the code does not begin with a module")
		}
		last := len(all) - 1
		all[last] = append(all[last], w)
	}
	return all
}

// TestPortable asserts which kernels are in which module, and what the modules need.
func TestPortable(t *testing.T) {
	var kernels []*kernel.Kernel
	for _, c := range trials() {
		if slices.Contains([]string{"add_f64", "add_i64", "copy_global_u8_1", "add_f32", "atomic_add_i64_global", "copy_global_u8_4", "convert_i64_f64"}, c.name) {
			kernels = append(kernels, c.k)
		}
	}
	code, err := Portable(kernels...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range modules(t, code) {
		if err := Check(m); err != nil {
			t.Error(err)
		}
		all, err := read(m)
		if err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, in := range all {
			switch in.name {
			case "Capability":
				for _, f := range features {
					if f.capability == in.literals[0] && slices.Contains(sometimesThere, f.name) && !strings.HasPrefix(f.name, "shaderShared") {
						line = append(line, f.name)
					}
				}
			case "EntryPoint":
				line = append(line, in.text)
			}
		}
		got = append(got, strings.Join(line, " "))
	}
	want := []string{
		"add_f32 copy_global_u8_4",
		"shaderInt64 shaderInt8 storageBuffer8BitAccess add_i64 copy_global_u8_1",
		"add_i64 copy_global_u8_1",
		"shaderInt64 shaderFloat64 shaderBufferInt64Atomics add_f64 convert_i64_f64 atomic_add_i64_global",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the modules\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := Portable(kernels[0], kernels[1], kernels[0]); err == nil || err.Error() != "spirv: two kernels have the name "+kernels[0].Name {
		t.Errorf("got the error %v", err)
	}
}

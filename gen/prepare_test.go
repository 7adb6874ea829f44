package gen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// products returns a model with three parts: matrix products, whose weights are packed; a sum of
// two weights that several values share; and a table, which is used unchanged.
func products(t *testing.T, n int, element func(layer, i int) float32) *ir.Module {
	t.Helper()
	var weights, nodes strings.Builder
	last := "rows"
	for i := range n {
		fmt.Fprintf(&weights, "weight w%d : f32[32,32]\n", i)
		fmt.Fprintf(&nodes, "  %%w%d = load {name=\"w%d\"} : f32[32,32]\n  %%y%d = mat_mul %%%s, %%w%d : f32[N,32]\n", i, i, i, last, i)
		last = fmt.Sprintf("y%d", i)
	}
	m, err := ir.Parse(fmt.Sprintf(`weight table : f32[9,32]
%sfunc @forward(%%ids: i64[N]) -> (y: f32[N,32], z: f32[N,32]) {
  %%table = load {name="table"} : f32[9,32]
  %%rows = gather %%table, %%ids {axis=0} : f32[N,32]
%s  %%sum = add %%w0, %%w1 : f32[32,32]
  %%root = exp %%sum : f32[32,32]
  %%twice = add %%root, %%sum : f32[32,32]
  %%a = mat_mul %%rows, %%root : f32[N,32]
  %%z = mat_mul %%a, %%twice : f32[N,32]
  return %%%s, %%z
}
`, weights.String(), nodes.String(), last), op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for layer, w := range m.Weights {
		count, _ := w.Type.Elems().Int()
		for i := range count {
			w.Data = binary.LittleEndian.AppendUint32(w.Data, math.Float32bits(element(layer, i)))
		}
	}
	return m
}

func small(layer, i int) float32 { return float32((i*31+layer*7)%23-11) / 256 }

// SetLarge sets the size of weights above which packages are large, until the test ends.
func SetLarge(t *testing.T, bytes int64) {
	old := largeBytes
	largeBytes = bytes
	t.Cleanup(func() { largeBytes = old })
}

// TestPrepareIsRepeatable generates a package with several numbers of goroutines, with prepared
// weights in memory and without. The files must have the same bytes, both as written in parts and
// as compared. The only exception is the bundled test of a large package, which only loads it.
func TestPrepareIsRepeatable(t *testing.T) {
	for _, dtype := range []ir.DType{ir.F32, ir.BF16} {
		var want []emit.File
		for _, large := range []bool{false, true} {
			for _, cores := range []int{1, 2, 8} {
				t.Run(fmt.Sprintf("%s, large %t, GOMAXPROCS=%d", dtype, large, cores), func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
					if large {
						SetLarge(t, 10_000)
					}
					m, err := FromModule("products", products(t, 9, small), Options{Package: "products", WeightsDType: dtype})
					if err != nil {
						t.Fatal(err)
					}
					files, err := m.Files()
					if err != nil {
						t.Fatal(err)
					}
					for i, f := range files {
						if f.Name == "model_test.go" {
							if strings.Contains(string(f.Data), "rt.Sample") == large {
								t.Errorf("a sample: %t", !large)
							}
							continue
						}
						if want != nil && (f.Name != want[i].Name || !bytes.Equal(f.Data, want[i].Data)) {
							t.Errorf("%s differs", f.Name)
						}
					}
					if want == nil {
						want = slices.Clone(files)
					}
					dir := t.TempDir()
					for i, f := range files { // once more, as large files are written
						if strings.HasSuffix(f.Name, ".safetensors") {
							files[i] = emit.File{Name: f.Name, Large: m.Weights}
						}
					}
					out, err := NewOutput(dir, files)
					if err != nil {
						t.Fatal(err)
					}
					if err := out.Write(); err != nil {
						t.Fatal(err)
					}
					for _, f := range want {
						if f.Name != "model_test.go" && !same(dir+"/"+f.Name, f) {
							t.Errorf("%s is not what is in memory", f.Name)
						}
					}
					if diff, err := out.Diff(); err != nil || len(diff) > 0 {
						t.Errorf("%s %v", diff, err)
					}
				})
			}
		}
	}
}

// TestErrorsOfPrepare has weights with elements that f16 cannot hold. All must be reported in the
// order of the model, including weights that are computed only when they are written.
func TestErrorsOfPrepare(t *testing.T) {
	big := func(layer, i int) float32 {
		if layer > 4 && i == 5 {
			return 1e6
		}
		return small(layer, i)
	}
	options := Options{Package: "products", WeightsDType: ir.F16}
	for _, cores := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", cores), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			_, err := FromModule("products", products(t, 9, big), options)
			var got []string
			for line := range strings.Lines(fmt.Sprint(err)) {
				_, rest, _ := strings.Cut(line, "prepared/")
				name, _, _ := strings.Cut(rest, `"`)
				got = append(got, name)
			}
			if text := strings.Join(got, " "); text != "w4 w5 w6 w7 w8" {
				t.Errorf("%s: %v", text, err)
			}
			SetLarge(t, 0)
			m, err := FromModule("products", products(t, 9, big), options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Files(); err == nil || !strings.Contains(err.Error(), `"prepared/w4"`) {
				t.Error(err)
			}
		})
	}
}

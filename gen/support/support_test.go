package support_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/support"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

func TestOperatorsAreSorted(t *testing.T) {
	all := support.Operators()
	var names []string
	for _, o := range all {
		names = append(names, o.Domain+" "+o.Name)
		if len(o.Versions) == 0 {
			t.Errorf("%s has no version", o.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(names)) != len(all) {
		t.Errorf("not in order, or twice: %v", names)
	}
	for _, want := range []string{"ai.onnx Conv", "com.microsoft FusedConv"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestUses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mlp.onnx")
	if err := os.WriteFile(path, onnxtest.MLP().Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	nodes, err := onnx.Nodes(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gen.Load(path, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m    *gen.Model
		want string
	}{
		"of a model":              {m, "MatMul-13 2 [f32] [mat_mul] assembly; Relu-14 1 [f32] [relu] assembly"},
		"of what is not compiled": {nil, "MatMul-13 2 [] [] ; Relu-14 1 [] [] "},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, u := range support.Uses(nodes, c.m) {
				got = append(got, fmt.Sprintf("%s-%d %d %v %v %s", u.Operator, u.Version, u.Count, u.Types, u.IR, u.CPU))
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

package pytorch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// str pushes a string.
func str(s string) string { return "X" + string(rune(len(s))) + "\x00\x00\x00" + s }

// TestContainersOfPython has containers that are made by a call, as programs that subclass them save.
func TestContainersOfPython(t *testing.T) {
	counts := "}" + str("n") + "K\x02s"
	for _, c := range []struct {
		name, pickle string
		want         any
	}{
		{"defaultdict of a type", global("collections", "defaultdict") + "(" + global("builtins", "list") + counts + "tR", map[string]any{"n": 2}},
		{"defaultdict of nothing", global("collections", "defaultdict") + ")R", map[string]any{}},
		{"counter", global("collections", "Counter") + "(" + counts + "tR", map[string]any{"n": 2}},
		{"list of a tuple", global("builtins", "list") + "((K\x01K\x02ttR", []any{1, 2}},
		{"empty list", global("__builtin__", "list") + ")R", []any(nil)},
		{"path", global("pathlib", "PosixPath") + "(" + str("runs") + str("best.pt") + "tR", "runs/best.pt"},
		{"path by parts twice", global("pathlib", "PurePosixPath") + "(" + str("a") + "2tR", "a/a"},
		{"device", global("torch", "device") + "(" + str("cuda") + "K\x01tR", "cuda:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.pt")
			if err := os.WriteFile(file, saved(t, "}"+str("v")+c.pickle+"s."), 0o666); err != nil {
				t.Fatal(err)
			}
			switch want := c.want.(type) {
			case map[string]any:
				got := map[string]int{}
				if err := Config(file, "v", &got); err != nil || len(got) != len(want) || len(want) > 0 && got["n"] != 2 {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			case []any:
				var got []int
				if err := Config(file, "v", &got); err != nil || len(got) != len(want) || len(want) > 0 && cmp.Diff(got, []int{1, 2}) != "" {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			case string:
				var got string
				if err := Config(file, "v", &got); err != nil || got != want {
					t.Errorf("%q, %v, want %q", got, err, want)
				}
			}
		})
	}
}

// TestRebuildV3 reads a tensor whose element type is an argument, in addition to the type of its storage.
func TestRebuildV3(t *testing.T) {
	v3 := func(last string) []byte {
		p := strings.Replace(rebuild(4, "K\x00", "K\x02K\x02", "K\x02K\x01"), "_rebuild_tensor_v2", "_rebuild_tensor_v3", 1)
		return saved(t, strings.Replace(p, "\x89)tR", "\x89)"+last+"tR", 1))
	}
	w, err := Parse(v3(global("torch", "int32")))
	if err != nil {
		t.Fatal(err)
	}
	if info, ok := w.Info("a"); !ok || info.DType != "i32" || string(w.Raw("a")) != "0123456789abcdef" {
		t.Errorf("%v, %q", info, w.Raw("a"))
	}
	for last, want := range map[string]string{"": "want at least 7", "K\x01": "want an element type"} {
		if _, err := Parse(v3(last)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestStateOfATensorIsIgnored has attributes of a parameter.
func TestStateOfATensorIsIgnored(t *testing.T) {
	p := strings.Replace(rebuild(4, "K\x00", "K\x04", "K\x01"), "tRs.", "tR}"+str("note")+"K\x01sbs.", 1)
	w, err := Parse(saved(t, p))
	if err != nil || string(w.Raw("a")) != "0123456789abcdef" {
		t.Error(w, err)
	}
}

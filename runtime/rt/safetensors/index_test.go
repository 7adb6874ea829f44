package safetensors

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseIndex(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]string
	}{
		{"as transformers writes it", `{"metadata": {"total_size": 12, "more": [1, -2.5e3, {"x": null}, []]}, "weight_map": {"a.b": "model-00001-of-00002.safetensors", "c": "model-00002-of-00002.safetensors"}}` + "\n",
			map[string]string{"a.b": "model-00001-of-00002.safetensors", "c": "model-00002-of-00002.safetensors"}},
		{"no tensors", `{"weight_map":{}}`, map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := ParseIndex([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, x.Files); d != "" {
				t.Error(d)
			}
		})
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "'{' expected"},
		{"no map", `{}`, "no weight_map"},
		{"two maps", `{"weight_map":{},"weight_map":{}}`, "twice"},
		{"a tensor twice", `{"weight_map":{"a":"x","a":"y"}}`, "twice"},
		{"a file above", `{"weight_map":{"a":"../x"}}`, "not a file in the folder"},
		{"a folder above", `{"weight_map":{"a":".."}}`, "not a file in the folder"},
		{"an absolute file", `{"weight_map":{"a":"/etc/passwd"}}`, "not a file in the folder"},
		{"a drive", `{"weight_map":{"a":"C:x"}}`, "not a file in the folder"},
		{"a number for a file", `{"weight_map":{"a":1}}`, `'"' expected`},
		{"deep", `{"x":` + strings.Repeat("[", 100_000), "in one another"},
		{"deep objects", `{"x":` + strings.Repeat(`{"a":`, 100_000), "in one another"},
		{"no value", `{"x":,}`, "a value expected"},
		{"text after it", `{"weight_map":{}}{`, "end of index"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseIndex([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
		})
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add([]byte(`{"metadata":{"total_size":1},"weight_map":{"a":"x.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"\u00e9":"x"},"y":[[1,true]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := ParseIndex(data); err == nil {
			for _, file := range x.Files {
				if strings.ContainsAny(file, "/\\") {
					t.Fatalf("%q", file)
				}
			}
		}
	})
}

package pytorch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/golden/corpus"
)

func TestConfig(t *testing.T) {
	type inner struct {
		Kind string
		Eps  float32
	}
	type config struct {
		Hidden  int
		NLayers uint8
		LR      float64 `json:"rate"`
		Bias    bool
		Name    string
		Sizes   []int
		Pair    [2]float32
		Nothing *int
		Inner   *inner
		Map     map[string]int
		Kept    int
		private int
	}
	got := config{Kept: 9, private: 8}
	if err := Config("testdata/config.pt", "config", &got); err != nil {
		t.Fatal(err)
	}
	want := config{Hidden: 512, NLayers: 4, LR: 0.1, Bias: true, Name: "tiny", Sizes: []int{8, 16}, Pair: [2]float32{1, 2},
		Inner: &inner{"gelu", 1e-5}, Map: map[string]int{"a": 1, "b": 2}, Kept: 9, private: 8}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(config{})); d != "" {
		t.Error(d)
	}
	t.Run("below two keys", func(t *testing.T) {
		var got inner
		if err := Config("testdata/config.pt", "config.inner", &got); err != nil || got != (inner{"gelu", 1e-5}) {
			t.Error(got, err)
		}
	})
	t.Run("one value", func(t *testing.T) {
		var got int
		if err := Config("testdata/config.pt", "config.Hidden", &got); err != nil || got != 512 {
			t.Error(got, err)
		}
	})
	t.Run("all that does not fit", func(t *testing.T) {
		var got struct {
			Hidden  int8
			NLayers string
			Rate    int
			Sizes   [3]int
			Pair    map[string]int
			Inner   []int
			Map     map[string]bool
		}
		err := Config("testdata/config.pt", "config", &got)
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{`"config.Hidden": 512 does not fit int8`, `"config.n_layers": 4 does not fit string`, `"config.rate": 0.1 does not fit int`,
			`"config.sizes": want 3 elements, have 2`, `"config.pair": want a dict, have a list`, `"config.inner": want a list, have a dict`, `"config.map.a": 1 does not fit bool`} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, %q expected", err, want)
			}
		}
	})
	for _, tt := range []struct {
		name, file, key, want string
		cfg                   any
	}{
		{"no such key", "config.pt", "konfig", `key "konfig" is missing; the keys are "config", "w"`, &got},
		{"a key below a number", "config.pt", "config.Hidden.x", "not in a dict", &got},
		{"a tensor", "config.pt", "w", "want a dict, have a tensor", &got},
		{"no pointer", "config.pt", "config", "want a pointer", got},
		{"no file", "none.pt", "config", "none.pt", &got},
		{"a refused file", "module.pt", "", "torch.nn.modules.linear.Linear", &got},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := Config("testdata/"+tt.file, tt.key, tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, %q expected", err, tt.want)
			}
		})
	}
	t.Run("what holds itself", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "x.pt")
		if err := os.WriteFile(file, saved(t, "}q\x00X\x01\x00\x00\x00ah\x00s."), 0o666); err != nil {
			t.Fatal(err)
		}
		var got any
		if err := Config(file, "", &got); err == nil || !strings.Contains(err.Error(), "itself") {
			t.Error(err)
		}
	})
}

// TestConfigOfOthers has values of NumPy, PyTorch and argparse.
func TestConfigOfOthers(t *testing.T) {
	type config struct {
		Best, Half, Big float64
		Step            int
		Flag            bool
		Byte            uint8
		Device          string
		Args            struct {
			Depth int
			Name  string
		}
	}
	want := config{Best: 0.75, Half: -0.5, Big: 3, Step: -7, Flag: true, Byte: 200, Device: "cuda:1"}
	want.Args.Depth, want.Args.Name = 3, "n"
	var got config
	if err := Config("testdata/numpy.pt", "", &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestConfigJSON(t *testing.T) {
	got, err := ConfigJSON("testdata/config.pt", "config")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "Hidden": 512,
  "bias": true,
  "inner": {
    "eps": 0.00001,
    "kind": "gelu"
  },
  "map": {
    "a": 1,
    "b": 2
  },
  "n_layers": 4,
  "name": "tiny",
  "nothing": null,
  "pair": [
    1,
    2
  ],
  "rate": 0.1,
  "sizes": [
    8,
    16
  ]
}
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	got, err = ConfigJSON("testdata/checkpoint_2.pt", "dtype")
	if err != nil || string(got) != "\"torch.float16\"\n" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestCorpusConfig reads a configuration among the files of others.
func TestCorpusConfig(t *testing.T) {
	type config struct {
		NHead, NLayer, DModel, SomeInt int
		SomeFloat                      float64
		SomeBool                       bool
		SomeStr                        string
		SomeListInt                    []int
		SomeListFloat                  []float64
		SomeListStr                    []string
		SomeDict                       map[string]string
	}
	var got config
	if err := Config(corpus.Path(t, "weights/burn-pytorch/config/weights_with_config.pt"), "my_config", &got); err != nil {
		t.Fatal(err)
	}
	want := config{2, 3, 512, 1, 0.1, true, "hello", []int{1, 2, 3}, []float64{0.1, 0.2, 0.3}, []string{"hello", "world"}, map[string]string{"some_key": "some_value"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

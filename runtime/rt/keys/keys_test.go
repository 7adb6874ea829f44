package keys

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/rt"
)

func TestNames(t *testing.T) {
	rules := func(texts ...string) []Rule {
		var list []Rule
		for _, text := range texts {
			r, err := ParseRule(text)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		return list
	}
	for _, tt := range []struct {
		name  string
		m     Map
		names string
		want  string
	}{
		{"nothing to do", Map{}, "a b.c", "a b.c"},
		{"below a top key", Map{Top: "state"}, "state.a stateful.b state.c.d", "a - c.d"},
		{"below a nested top key", Map{Top: "state.model"}, "state.model.a state.b", "a -"},
		{"a prefix off", Map{Rules: rules(`^module\.=>`)}, "module.a module.b.module.c d", "a b.module.c d"},
		{"groups", Map{Rules: rules(`encoder\.(.*)=>enc.$1`)}, "encoder.x.y decoder.x", "enc.x.y decoder.x"},
		{"groups in braces", Map{Rules: rules(`layer(\d+)=>layers.${1}x`)}, "layer3.w", "layers.3x.w"},
		{"rules one after the other", Map{Rules: rules("a=>b", "b=>c")}, "a b2", "c c2"},
		{"a rule with an arrow in it", Map{Rules: rules("a=>b=>c")}, "a", "b=>c"},
		{"gaps closed", Map{Renumber: true}, "fc.0.weight fc.2.weight fc.4.weight fc.4.bias", "fc.0.weight fc.1.weight fc.2.weight fc.2.bias"},
		{"numbers in order, not as text", Map{Renumber: true}, "fc.2 fc.10 fc.9", "fc.0 fc.2 fc.1"},
		{"gaps in gaps", Map{Renumber: true}, "a.1.b.3 a.1.b.5 a.4.b.7", "a.0.b.0 a.0.b.1 a.1.b.0"},
		{"numbers at the top", Map{Renumber: true}, "2.w 5.w", "0.w 1.w"},
		{"numbers that are not indices", Map{Renumber: true}, "conv1.w layer.01.w layer.-2.w", "conv1.w layer.01.w layer.-2.w"},
		{"all of it", Map{Top: "m", Rules: rules("^net=>n"), Renumber: true}, "m.net.1.w m.net.3.w x.net.5.w", "n.0.w n.1.w -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := strings.Fields(tt.names)
			got, err := tt.m.Names(names)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for i, name := range strings.Fields(tt.want) {
				if name != "-" {
					want[names[i]] = name
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for _, tt := range []struct {
		name, names, want string
		m                 Map
	}{
		{"no such top key", "a.x b.y", `top key "c": no tensor is below it; there are "a", "b"`, Map{Top: "c"}},
		{"two names that become one", "a1 a2 b", `remap: "a1", "a2" all become "a"`, Map{Rules: rules(`\d=>`)}},
		{"a name without end", strings.Repeat("a", 1000), "makes a name of", Map{Rules: rules("a=>" + strings.Repeat("b", 100))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.m.Names(strings.Fields(tt.names)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, %q expected", err, tt.want)
			}
		})
	}
	for _, text := range []string{"a", "(=>b", strings.Repeat("a", 1<<17) + "=>"} {
		if _, err := ParseRule(text); err == nil {
			t.Errorf("%.20q is a rule", text)
		}
	}
}

func TestRenumberKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		indices := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 1, 20, rapid.ID).Draw(t, "indices")
		slices.Sort(indices)
		var names []string
		for _, i := range indices {
			names = append(names, "l."+strconv.Itoa(i)+".w")
		}
		got, err := Map{Renumber: true}.Names(rapid.Permutation(names).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		for k, name := range names {
			if got[name] != "l."+strconv.Itoa(k)+".w" {
				t.Fatalf("%q became %q, number %d", name, got[name], k)
			}
		}
	})
}

// weights has tensors of float32s of the shapes of a small model.
func weights() *rt.Weights {
	w := rt.NewWeights()
	rt.Add(w, "fc1.weight", []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	rt.Add(w, "fc1.bias", []float32{1, 2}, 2)
	rt.Add(w, "norm.gamma", []float32{7}, 1)
	rt.Add(w, "steps", []int64{3})
	return w
}

func TestMatch(t *testing.T) {
	wanted := []rt.Info{{Name: "fc1.weight", DType: "f32", Shape: []int{2, 3}}, {Name: "fc1.bias", DType: "f16", Shape: []int{2}},
		{Name: "norm.weight", DType: "f32", Shape: []int{1}}, {Name: "steps", DType: "i64"}}
	w, err := Fit{}.Match(weights(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[rt.Float16](w, "fc1.bias", 2); !slices.Equal(got, []rt.Float16{0x3c00, 0x4000}) {
		t.Error(got)
	}
	if got := rt.WeightsOf[float32](w, "norm.weight", 1); !slices.Equal(got, []float32{7}) || w.Err() != nil {
		t.Error(got, w.Err())
	}
	for _, tt := range []struct {
		name string
		fit  Fit
		want []rt.Info
		errs []string
	}{
		{"everything wrong at once", Fit{}, []rt.Info{{Name: "fc1.weight", DType: "f32", Shape: []int{3, 2}}, {Name: "fc2.bias", DType: "f32", Shape: []int{2}}, {Name: "steps", DType: "f32"}},
			[]string{`"fc1.weight": f32[3,2] expected, file has f32[2,3], its transpose`, `"fc2.bias": f32[2] expected, file has none of that name; nearest: "fc1.bias"`,
				`"steps": f32[] expected, file has i64[]`, `2 not used: "fc1.bias", "norm.gamma"`}},
		{"some missing", Fit{AllowMissing: true}, append([]rt.Info{{Name: "more", DType: "f32"}}, wanted...), nil},
		{"some unused", Fit{AllowUnused: true}, wanted[:1], nil},
		{"one tensor twice", Fit{AllowUnused: true}, []rt.Info{wanted[2], {Name: "norm.gamma", DType: "f32", Shape: []int{1}}}, []string{`"norm.gamma": already used as "norm.weight"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.fit.Match(weights(), tt.want)
			if (err == nil) != (tt.errs == nil) {
				t.Fatal(err)
			}
			if err != nil && len(strings.Split(err.Error(), "\n")) != len(tt.errs) {
				t.Error(err)
			}
			for _, want := range tt.errs {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, %q expected", err, want)
				}
			}
		})
	}
}

func TestNearest(t *testing.T) {
	names := []string{"encoder.layers.0.fc.weight", "encoder.layers.1.fc.weight", "encoder.layers.0.fc.bias", "decoder.weight", "x"}
	for name, want := range map[string]string{
		"enc.layers.1.fc.weight": "encoder.layers.1.fc.weight",
		"encoder.layers.0.fc.b":  "encoder.layers.0.fc.bias",
		"fc.bias":                "encoder.layers.0.fc.bias",
	} {
		if got := Nearest(name, names); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %q, %q expected", name, got, want)
		}
	}
	if got := Nearest("entirely.different", names); len(got) > 0 {
		t.Error(got)
	}
}

func TestApply(t *testing.T) {
	r, _ := ParseRule("^fc1=>linear")
	w, err := Map{Rules: []Rule{r}}.Apply(weights())
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[float32](w, "linear.bias", 2); !slices.Equal(got, []float32{1, 2}) || w.Err() != nil {
		t.Error(got, w.Err())
	}
}

func TestTransposed(t *testing.T) {
	w, err := Map{Transpose: []*regexp.Regexp{regexp.MustCompile(`fc\d\.weight$`)}}.Apply(weights())
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[float32](w, "fc1.weight", 3, 2); !slices.Equal(got, []float32{1, 4, 2, 5, 3, 6}) || w.Err() != nil {
		t.Error(got, w.Err())
	}
	for _, name := range []string{"none", "fc1.bias"} {
		if _, err := (Map{Transpose: []*regexp.Regexp{regexp.MustCompile(name)}}).Apply(weights()); err == nil {
			t.Error(name, "is transposed")
		}
	}
}

func TestVariant(t *testing.T) {
	plain := []rt.Info{{Name: "fc1.weight", DType: "f32", Shape: []int{2, 3}}}
	deep := []rt.Info{plain[0], {Name: "fc2.weight", DType: "f32", Shape: []int{2, 2}}}
	wide := []rt.Info{{Name: "fc1.weight", DType: "f32", Shape: []int{4, 3}}}
	for i, tt := range []struct {
		want     int
		variants [][]rt.Info
	}{{0, [][]rt.Info{plain, deep}}, {1, [][]rt.Info{deep, plain}}, {1, [][]rt.Info{wide, plain, plain}}} {
		if got, err := Variant(weights(), tt.variants...); got != tt.want || err != nil {
			t.Error(i, got, err)
		}
	}
	if _, err := Variant(weights(), deep, wide); err == nil || !strings.Contains(err.Error(), "variant 0") || !strings.Contains(err.Error(), "variant 1") {
		t.Error(err)
	}
}

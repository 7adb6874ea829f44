package keys

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
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

// match is Match without weights of the model's own.
func match(f Fit, wanted []Want) (*Fitted, error) { return f.Match(weights(), nil, wanted) }

func TestMatch(t *testing.T) {
	wanted := []Want{{Name: "fc1.weight", DType: "f32", Shape: []int{2, 3}}, {Name: "fc1.bias", DType: "f16", Shape: []int{2}},
		{Name: "norm.weight", DType: "f32", Shape: []int{1}}, {Name: "steps", DType: "i64"}}
	w, err := match(Fit{}, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[rt.Float16](w.Weights, "fc1.bias", 2); !slices.Equal(got, []rt.Float16{0x3c00, 0x4000}) {
		t.Error(got)
	}
	if got := rt.WeightsOf[float32](w.Weights, "norm.weight", 1); !slices.Equal(got, []float32{7}) || w.Err() != nil {
		t.Error(got, w.Err())
	}
	if !slices.Equal(w.Converted, []string{"fc1.bias"}) || w.Transposed != nil || w.Own != nil || w.Unused != nil {
		t.Errorf("%+v", w)
	}
	for _, tt := range []struct {
		name string
		fit  Fit
		want []Want
		errs []string
	}{
		{"everything wrong at once", Fit{}, []Want{{Name: "fc1.weight", DType: "f32", Shape: []int{3, 2}}, {Name: "fc2.bias", DType: "f32", Shape: []int{2}}, {Name: "steps", DType: "f32"}},
			[]string{`"fc1.weight": f32[3,2] expected, file has f32[2,3], its transpose`, `"fc2.bias": f32[2] expected, file has no such tensor; nearest: "fc1.bias"`,
				`"steps": f32[] expected, file has i64[]`, `2 not used: "fc1.bias", "norm.gamma"`}},
		{"missing, and no other there", Fit{AllowMissing: true}, append([]Want{{Name: "more", DType: "f32"}}, wanted...), []string{`1 are missing, and the model does not have them either: "more"`}},
		{"one that need not be there", Fit{}, append([]Want{{Name: "more", DType: "f32", Optional: true}}, wanted...), nil},
		{"some unused", Fit{AllowUnused: true}, wanted[:1], nil},
		{"one tensor twice", Fit{AllowUnused: true}, []Want{wanted[2], {Name: "norm.gamma", DType: "f32", Shape: []int{1}}}, []string{`"norm.gamma": already used as "norm.weight"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := match(tt.fit, tt.want)
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

func TestMissingAreTheModelsOwn(t *testing.T) {
	own := rt.NewWeights()
	rt.Add(own, "fc1.bias", []float32{8, 9}, 2)
	rt.Add(own, "mask", []float32{5}, 1)
	asked := 0
	get := func() *rt.Weights { asked++; return own }
	file := rt.NewWeights()
	rt.Add(file, "fc1.weight", []float32{1, 2}, 2)
	rt.Add(file, "const/0", []float32{1}, 1)
	rt.Add(file, "prepared/fc1.weight", []float32{1}, 1)
	rt.Add(file, "norm.num_batches_tracked", []int64{1})
	wanted := []Want{{Name: "fc1.weight", DType: "f32", Shape: []int{2}}, {Name: "fc1.bias", DType: "f32", Shape: []int{2}}, {Name: "mask", DType: "f32", Shape: []int{1}, Optional: true}}
	w, err := (Fit{AllowMissing: true}).Match(file, get, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[float32](w.Weights, "fc1.bias", 2); !slices.Equal(got, []float32{8, 9}) || !slices.Equal(w.Own, []string{"fc1.bias", "mask"}) || asked != 1 {
		t.Error(got, w.Own, asked)
	}
	if _, err := (Fit{}).Match(file, get, wanted); err == nil || !strings.Contains(err.Error(), `"fc1.bias"`) || strings.Contains(err.Error(), "mask") {
		t.Error(err)
	}
}

func TestAliases(t *testing.T) {
	tied := []Want{{Name: "embed.weight", DType: "f32", Shape: []int{2}, Aliases: []string{"head.weight", "again.weight"}}}
	file := func(names ...string) *rt.Weights {
		w := rt.NewWeights()
		for i, name := range names {
			name, other := strings.CutSuffix(name, "!")
			x := []float32{1, 2}
			if other {
				x[1] += float32(i)
			}
			rt.Add(w, name, x, 2)
		}
		return w
	}
	for _, names := range []string{"embed.weight", "head.weight", "embed.weight again.weight head.weight"} {
		w, err := (Fit{}).Match(file(strings.Fields(names)...), nil, tied)
		if err != nil {
			t.Fatal(names, err)
		}
		if got := rt.WeightsOf[float32](w.Weights, "embed.weight", 2); !slices.Equal(got, []float32{1, 2}) || len(w.Names()) != 1 {
			t.Error(names, got, w.Names())
		}
	}
	_, err := (Fit{}).Match(file("embed.weight", "head.weight!"), nil, tied)
	if err == nil || !strings.Contains(err.Error(), `"embed.weight" and "head.weight" are one tensor in the model, and differ in the file`) {
		t.Error(err)
	}
}

// matrices returns weights with the given numbers of rows and columns, keyed by name. Each element
// is its own index.
func matrices(shapes map[string][2]int) *rt.Weights {
	w := rt.NewWeights()
	for name, s := range shapes {
		x := make([]float32, s[0]*s[1])
		for i := range x {
			x[i] = float32(i)
		}
		rt.Add(w, name, x, s[0], s[1])
	}
	return w
}

func TestLayouts(t *testing.T) {
	want := func(layout Layout, name string, rows, columns int) Want {
		return Want{Name: name, DType: "f32", Shape: []int{rows, columns}, Layout: layout}
	}
	as, turned := []float32{0, 1, 2, 3}, []float32{0, 2, 1, 3} // a square matrix
	for _, tt := range []struct {
		name   string
		wanted []Want
		file   map[string][2]int
		square []float32 // s, as it becomes
		err    string
	}{
		{"a square one beside one transposed", []Want{want(InOut, "a", 2, 3), want(InOut, "s", 2, 2)}, map[string][2]int{"a": {3, 2}, "s": {2, 2}}, turned, ""},
		{"a square one beside one as it is", []Want{want(InOut, "s", 2, 2), want(InOut, "a", 2, 3)}, map[string][2]int{"a": {2, 3}, "s": {2, 2}}, as, ""},
		{"a square one alone", []Want{want(InOut, "s", 2, 2)}, map[string][2]int{"s": {2, 2}}, as, ""},
		{"a square one of another layout", []Want{want(InOut, "a", 2, 3), want(OutIn, "s", 2, 2)}, map[string][2]int{"a": {3, 2}, "s": {2, 2}}, as, ""},
		{"a square one that is not a factor", []Want{want(InOut, "a", 2, 3), want("", "s", 2, 2)}, map[string][2]int{"a": {3, 2}, "s": {2, 2}}, as, ""},
		{"a square one beside both", []Want{want(InOut, "a", 2, 3), want(InOut, "b", 2, 3), want(InOut, "s", 2, 2)}, map[string][2]int{"a": {3, 2}, "b": {2, 3}, "s": {2, 2}}, nil,
			`"s": is square, and of the others some are transposed and some are not`},
		{"one that is not a factor", []Want{want("", "a", 2, 3), want(InOut, "s", 2, 2)}, map[string][2]int{"a": {3, 2}, "s": {2, 2}}, nil, "its transpose"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := (Fit{}).Match(matrices(tt.file), nil, tt.wanted)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, %q expected", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := rt.WeightsOf[float32](w.Weights, "s", 2, 2); !slices.Equal(got, tt.square) {
				t.Error(got)
			}
			if _, has := tt.file["a"]; has && rt.WeightsOf[float32](w.Weights, "a", 2, 3) == nil {
				t.Error(w.Err())
			}
		})
	}
	t.Run("as the options say", func(t *testing.T) {
		file := map[string][2]int{"a": {3, 2}, "s": {2, 2}}
		wanted := []Want{want(InOut, "a", 2, 3), want(InOut, "s", 2, 2)}
		w, err := Load(matrices(file), nil, wanted, Transpose("^a$"))
		if err != nil {
			t.Fatal(err)
		}
		if got := rt.WeightsOf[float32](w, "s", 2, 2); !slices.Equal(got, as) {
			t.Error(got)
		}
		if _, err := Load(matrices(file), nil, wanted, Transpose("^s$")); err == nil || !strings.Contains(err.Error(), "its transpose") {
			t.Error(err)
		}
	})
}

func TestLoad(t *testing.T) {
	file := rt.NewWeights()
	rt.Add(file, "state.module.fc.2.weight", []float32{1}, 1)
	rt.Add(file, "state.more", []float32{1}, 1)
	rt.Add(file, "other", []float32{1}, 1)
	wanted := []Want{{Name: "fc.0.weight", DType: "f64", Shape: []int{1}}}
	w, err := Load(file, nil, wanted, TopKey("state"), Remap(`^module\.=>`), nil, Renumber(), AllowUnused())
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[float64](w, "fc.0.weight", 1); !slices.Equal(got, []float64{1}) {
		t.Error(got, w.Err())
	}
	_, err = Load(file, nil, wanted, Remap("a"), Transpose("("), AllowMissing())
	if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Error(err)
	}
	for _, w := range []*rt.Weights{nil, file, rt.OpenWeightsFile("none")} {
		for _, options := range [][]Option{nil, {Renumber()}} {
			if _, err := Load(w, nil, wanted, options...); err == nil {
				t.Error("no error")
			}
		}
	}
}

func TestPreparedFiles(t *testing.T) {
	file := rt.NewWeights()
	rt.Add(file, "prepared/fc", []float32{1}, 1)
	rt.Add(file, "fc.bias", []float32{1}, 1)
	bias := Want{Name: "fc.bias", DType: "f32", Shape: []int{1}}
	wanted := []Want{bias, {Name: "fc.weight", DType: "f32", Shape: []int{1}}}
	_, err := Load(file, nil, wanted)
	if err == nil || !strings.Contains(err.Error(), "prepared for one package") || !strings.Contains(err.Error(), "fc.weight") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if _, err := Load(file, nil, wanted[:1]); err != nil {
		t.Errorf("a file that has both: %v", err)
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
	for want, m := range map[string]Map{
		"remap: a rule without a pattern": {Rules: []Rule{r, {}}},
		"transpose: no pattern":           {Transpose: []*regexp.Regexp{nil}},
	} {
		if _, err := m.Apply(weights()); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
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
	plain := []Want{{Name: "fc1.weight", DType: "f32", Shape: []int{2, 3}}}
	deep := []Want{plain[0], {Name: "fc2.weight", DType: "f32", Shape: []int{2, 2}}}
	wide := []Want{{Name: "fc1.weight", DType: "f32", Shape: []int{4, 3}}}
	for i, tt := range []struct {
		want     int
		variants [][]Want
	}{{0, [][]Want{plain, deep}}, {1, [][]Want{deep, plain}}, {1, [][]Want{wide, plain, plain}}} {
		if got, err := Variant(weights(), tt.variants...); got != tt.want || err != nil {
			t.Error(i, got, err)
		}
	}
	if _, err := Variant(weights(), deep, wide); err == nil || !strings.Contains(err.Error(), "variant 0") || !strings.Contains(err.Error(), "variant 1") {
		t.Error(err)
	}
}

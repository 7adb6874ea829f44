package rt

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// trained returns the parameters of a small model, element i of which is i.
func trained(t testing.TB) *Params {
	t.Helper()
	p, err := NewParams([]Param{
		{"conv1.weight", []int{2, 3}, 0},
		{"conv1.bias", []int{2}, 16},
		{"layers.0.attn.q_proj.weight", []int{2, 2}, 32},
		{"layers.1.attn.q_proj.weight", []int{2, 2}, 36},
		{"scale", nil, 40},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Data {
		p.Data[i] = float32(i)
	}
	return p
}

func names(p *Params) []string {
	var list []string
	for _, it := range p.Items {
		list = append(list, it.Name)
	}
	return list
}

func TestNewParams(t *testing.T) {
	p := trained(t)
	if p.Len() != 17 || len(p.Data) != 41 || len(p.Grad) != 41 {
		t.Errorf("%d parameters, %d elements, %d gradients", p.Len(), len(p.Data), len(p.Grad))
	}
	if uintptr(unsafe.Pointer(&p.Data[0]))%64 != 0 || uintptr(unsafe.Pointer(&p.Grad[0]))%64 != 0 {
		t.Error("memory does not begin at a 64-byte boundary")
	}
	if v := p.Value(1); !slices.Equal(v, []float32{16, 17}) || cap(v) != 2 {
		t.Errorf("conv1.bias is %v, capacity %d", v, cap(v))
	}
	p.Gradient(4)[0] = 5
	if p.Grad[40] != 5 {
		t.Error("Gradient is not a part of Grad")
	}
	if p.Value(-1) != nil || p.Value(5) != nil || p.Gradient(5) != nil || p.Fresh(5) {
		t.Error("there is a parameter 5")
	}
	want := "conv1.weight                 f32[2,3]   6\n" +
		"conv1.bias                   f32[2]     2\n" +
		"layers.0.attn.q_proj.weight  f32[2,2]   4\n" +
		"layers.1.attn.q_proj.weight  f32[2,2]   4\n" +
		"scale                        f32[]      1\n" +
		"5 parameters                           17\n"
	if got := p.String(); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	t.Run("everything wrong at once", func(t *testing.T) {
		_, err := NewParams([]Param{{"", nil, 0}, {"a", []int{3}, 4}, {"a", []int{1}, 7}, {"b", []int{2}, 6}, {"c", []int{-1}, 9}})
		wantError(t, err, `params: "": parameter 0 has no name
params: "a": name appears twice
params: "b": begins at element 6: the one before ends at 7
params: "c": tensor: shape [-1] has a negative extent`)
		for _, it := range []Param{{"a", []int{2}, math.MaxInt - 1}, {"a", []int{math.MaxInt}, 0}, {"a", []int{math.MaxInt}, 9}} {
			if _, err := NewParams([]Param{it}); err == nil || !strings.Contains(err.Error(), "limit is") {
				t.Errorf("%v: %v", it, err)
			}
		}
	})
	t.Run("nil and zero", func(t *testing.T) {
		for _, p := range []*Params{nil, {}} {
			p.UseUp()
			p.Renew()
			p.ZeroGrad()
			p.Release()
			p.ClipValue(1)
			p.ClipNorms(1)
			p.Scale(2)
			p.State(&State{})
			if p.Len() != 0 || !p.UsedUp() || p.ClipNorm(1) != 0 || p.Accumulate(nil) != nil || p.Err() != nil {
				t.Error("no parameters have something")
			}
			if p.Bind() == nil || p.Match("a").Bind() == nil || p.Except().Bind() == nil {
				t.Error("an optimizer of nothing")
			}
			if got := p.String(); !strings.HasPrefix(got, "0 parameters") {
				t.Errorf("printed as %q", got)
			}
		}
	})
}

func TestMatchName(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		matches []string
		not     []string
	}{
		{"conv1.weight", []string{"conv1.weight"}, []string{"conv1.bias", "conv1", "a.conv1.weight", "conv1xweight"}},
		{"conv1", []string{"conv1", "conv1.weight", "conv1.a.b"}, []string{"conv10.weight", "a.conv1"}},
		{"conv?", []string{"conv1.weight"}, []string{"conv.weight", "conv12"}},
		{"layers.*.weight", []string{"layers.0.weight", "layers.12.weight.v"}, []string{"layers.0.attn.weight", "layers.weight"}},
		{"layers.[0-3]", []string{"layers.2.weight"}, []string{"layers.4.weight", "layers.12"}},
		{"**.bias", []string{"bias", "a.bias", "a.b.c.bias"}, []string{"a.biases", "a.bias_x"}},
		{"a.**.b.**.c", []string{"a.b.c", "a.x.b.y.z.c", "a.b.b.c.c"}, []string{"a.c.b", "a.x.c"}},
		{"**", []string{"a", "a.b"}, nil},
		{"*", []string{"a", "a.b", ""}, nil},
		{`a\*`, []string{"a*.b"}, []string{"ab"}},
		{"encoder/*/kernel:0", []string{"encoder/layer_0/kernel:0", "/encoder/l/kernel:0"}, []string{"encoder/l/kernel:1"}},
		{"conv1.Conv", []string{"/conv1/Conv.weight"}, []string{"/conv1/Conv_1.weight"}},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			for want, list := range map[bool][]string{true: tt.matches, false: tt.not} {
				for _, name := range list {
					if got, err := MatchName(tt.pattern, name); got != want || err != nil {
						t.Errorf("%q: %v, %v", name, got, err)
					}
				}
			}
		})
	}
	for _, pattern := range []string{"", "a..b", "a.", "[a", "a.[z-", `a\`, "**.[]"} {
		if ok, err := MatchName(pattern, "a"); ok || err == nil {
			t.Errorf("%q is a pattern", pattern)
		}
	}
	t.Run("a name matches itself", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.StringMatching(`[a-z_:0-9]+([./][a-z_:0-9]+){0,5}`).Draw(t, "name")
			below := name + rapid.StringMatching(`([./][a-z0-9]+){0,3}`).Draw(t, "below")
			for _, pattern := range []string{name, "**." + name, name + ".**"} {
				if ok, err := MatchName(pattern, below); !ok || err != nil {
					t.Errorf("%q does not match %q: %v", pattern, below, err)
				}
			}
		})
	})
}

func TestViews(t *testing.T) {
	p := trained(t)
	for _, tt := range []struct {
		name string
		view *Params
		want []string
	}{
		{"match", p.Match("layers", "conv1.bias"), []string{"conv1.bias", "layers.0.attn.q_proj.weight", "layers.1.attn.q_proj.weight"}},
		{"except", p.Except("**.weight"), []string{"conv1.bias", "scale"}},
		{"except nothing", p.Except(), names(p)},
		{"match nothing", p.Match(), nil},
		{"both", p.Match("conv1").Except("**.bias"), []string{"conv1.weight"}},
	} {
		if got := names(tt.view); !slices.Equal(got, tt.want) || tt.view.Err() != nil {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, tt.view.Err(), tt.want)
		}
	}
	t.Run("memory and marks are shared", func(t *testing.T) {
		p := trained(t)
		head := p.Match("scale")
		head.Value(0)[0] = 7
		head.Renew()
		if p.Data[40] != 7 || !p.Fresh(4) || p.Fresh(0) || p.UsedUp() || !p.Except("scale").UsedUp() {
			t.Error("a view has memory or marks of its own")
		}
	})
	t.Run("mistakes", func(t *testing.T) {
		view := p.Match("conv1", "conv2", "[").Except("nothing")
		wantError(t, view.Err(), `params: pattern "conv2" matches no parameter
params: pattern "[": malformed
params: pattern "nothing" matches no parameter`)
		wantError(t, view.Bind(), view.Err().Error())
	})
	t.Run("optimizers", func(t *testing.T) {
		p := trained(t)
		head, body := p.Match("scale"), p.Except("scale")
		for _, view := range []*Params{head, body} {
			if err := view.Bind(); err != nil {
				t.Fatal(err)
			}
		}
		body.Release()
		wantError(t, p.Bind(), `params: "scale": another optimizer has it`)
		if err := body.Bind(); err != nil {
			t.Errorf("a bind in vain left marks: %v", err)
		}
	})
}

func TestAccumulate(t *testing.T) {
	p := trained(t)
	g := make([]float32, len(p.Grad))
	for i := range g {
		g[i] = 1
	}
	copy(p.Grad, slices.Repeat([]float32{100}, len(g)))
	p.Match("conv1").Renew()
	if err := p.Except("scale").Accumulate(g); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{101, 101, 1, 1, 100} {
		if got := p.Gradient(i)[0]; got != want || p.Fresh(i) != (i < 4) {
			t.Errorf("%s: gradient %v, there: %v, want %v", p.Items[i].Name, got, p.Fresh(i), want)
		}
	}
	p.UseUp()
	if !p.UsedUp() || p.Grad[0] != 101 {
		t.Error("using up is a mark")
	}
	p.Renew()
	p.ZeroGrad()
	if !p.UsedUp() || p.Grad[0] != 0 || p.Grad[40] != 0 || p.Grad[10] != 100 {
		t.Error("gradients are not zero")
	}
	wantError(t, p.Accumulate(g[1:]), "params: 40 gradients: parameters have 41 elements")
}

func TestClip(t *testing.T) {
	// gradients returns parameters of which all but scale have gradients.
	gradients := func(t *testing.T) *Params {
		p := trained(t)
		copy(p.Gradient(0), []float32{3, 0, 0, 0, 0, -4})
		copy(p.Gradient(1), []float32{0, 12})
		copy(p.Gradient(4), []float32{1e9})
		p.Except("scale").Renew()
		return p
	}
	t.Run("norm", func(t *testing.T) {
		p := gradients(t)
		if norm := p.ClipNorm(14); norm != 13 || p.Grad[0] != 3 {
			t.Errorf("norm %v, gradient %v", norm, p.Grad[0])
		}
		if norm := p.ClipNorm(1.3); norm != 13 || math.Abs(float64(p.Grad[5])+0.4) > 1e-6 || p.Grad[40] != 1e9 {
			t.Errorf("norm %v, gradient %v", norm, p.Grad[5])
		}
		if norm := p.ClipNorm(1.3); norm > 1.3 {
			t.Errorf("norm %v after clipping", norm)
		}
	})
	t.Run("norms", func(t *testing.T) {
		p := gradients(t)
		p.ClipNorms(6)
		if p.Grad[0] != 3 || math.Abs(float64(p.Grad[17])-6) > 1e-5 || p.Grad[40] != 1e9 {
			t.Errorf("gradients %v", p.Grad)
		}
	})
	t.Run("value", func(t *testing.T) {
		p := gradients(t)
		p.Grad[1] = float32(math.NaN())
		p.ClipValue(3.5)
		if p.Grad[0] != 3 || p.Grad[5] != -3.5 || p.Grad[17] != 3.5 || p.Grad[40] != 1e9 || p.Grad[1] == p.Grad[1] {
			t.Errorf("gradients %v", p.Grad)
		}
	})
	t.Run("scale", func(t *testing.T) {
		p := gradients(t)
		p.Match("conv1").Scale(0.5)
		if p.Grad[0] != 1.5 || p.Grad[17] != 6 {
			t.Errorf("gradients %v", p.Grad)
		}
	})
	t.Run("limits below zero", func(t *testing.T) {
		for name, clip := range map[string]func(p *Params){
			"norm":  func(p *Params) { p.ClipNorm(-1) },
			"norms": func(p *Params) { p.ClipNorms(-1) },
			"value": func(p *Params) { p.ClipValue(-1) },
		} {
			p := gradients(t)
			if clip(p); p.Grad[0] != 0 || p.Grad[5] != 0 || p.Grad[17] != 0 || p.Grad[40] != 1e9 {
				t.Errorf("%s: gradients %v", name, p.Grad)
			}
		}
	})
	t.Run("norms that are not finite", func(t *testing.T) {
		for _, x := range []float64{math.NaN(), math.Inf(1)} {
			p := gradients(t)
			p.Grad[1] = float32(x)
			if norm := p.ClipNorm(1); norm == 13 || p.Grad[0] != 3 {
				t.Errorf("%v: norm %v, gradient %v", x, norm, p.Grad[0])
			}
		}
	})
	t.Run("large and small", func(t *testing.T) {
		p := gradients(t)
		p.Grad[0], p.Grad[5], p.Grad[17] = 0, 0, math.MaxFloat32
		if norm := p.ClipNorm(1); norm != math.MaxFloat32 {
			t.Errorf("norm %v", norm)
		}
	})
}

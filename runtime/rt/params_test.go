package rt

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"
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

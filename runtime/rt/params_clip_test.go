package rt

import (
	"math"
	"testing"
)

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

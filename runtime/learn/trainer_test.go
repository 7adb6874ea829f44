package learn

import (
	"testing"

	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// TestOptimizers asserts that every optimizer can be the optimizer of a run.
func TestOptimizers(t *testing.T) {
	for name, bind := range map[string]func(p *rt.Params) (optim.Optimizer, error){
		"adam":    func(p *rt.Params) (optim.Optimizer, error) { return optim.NewAdam(p, optim.AdamConfig{}) },
		"adamw":   func(p *rt.Params) (optim.Optimizer, error) { return optim.NewAdamW(p, optim.AdamWConfig{}) },
		"sgd":     func(p *rt.Params) (optim.Optimizer, error) { return optim.NewSGD(p, optim.SGDConfig{}) },
		"adagrad": func(p *rt.Params) (optim.Optimizer, error) { return optim.NewAdaGrad(p, optim.AdaGradConfig{}) },
		"adan":    func(p *rt.Params) (optim.Optimizer, error) { return optim.NewAdan(p, optim.AdanConfig{}) },
		"lion":    func(p *rt.Params) (optim.Optimizer, error) { return optim.NewLion(p, optim.LionConfig{}) },
		"muon":    func(p *rt.Params) (optim.Optimizer, error) { return optim.NewMuon(p, optim.MuonConfig{}) },
		"rmsprop": func(p *rt.Params) (optim.Optimizer, error) { return optim.NewRMSProp(p, optim.RMSPropConfig{}) },
	} {
		m := newToy(t)
		params := m.params
		if name == "muon" {
			params = params.Match("w") // it takes matrices only
		}
		o, err := bind(params)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l, err := New(m, m.task(), Options{Epochs: 2, Optimizers: []Optimizer{{Of: o, Rate: optim.Constant(0.01)}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		run, err := l.Fit(t.Context(), loaded(200, 8, true), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r, ok := run.Result("train loss"); !ok || r.Epoch != 2 {
			t.Errorf("%s: the loss did not fall: %+v", name, r)
		}
	}
}

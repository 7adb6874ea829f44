//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// LoadFrom returns the model with other weights, which rt.OpenWeightsFile or pytorch.Open returns.
// They must have the names and shapes of the source model's weights. Options rename weights and say
// which may be missing or unused. missing_ An error lists everything that does not fit. The caller
// may close raw afterwards.
func LoadFrom(raw *rt.Weights, options ...keys.Option) (*Model, error) {
	open_()
	w, err := fitted(raw, own_, options, device_)
	if err != nil {
		return nil, err
	}
	return newModel(w, device_), nil
}

// Swap replaces the weights of the model while it is in use. It takes weights as LoadFrom does.
// Calls that have begun use the old weights, and later calls the new ones. On error the model does
// not change.
func (m *Model) Swap(raw *rt.Weights, options ...keys.Option) error {
	if err := m.loaded(); err != nil {
		return err
	}
	w, err := fitted(raw, own_, options, device_)
	if err != nil {
		return err
	}
	if err := w.Replace(m.weights.Load()); err != nil {
		return err
	}
	m.weights.Store(w)
	return nil
}

// fitted prepares other weights for the kernels.
func fitted(raw *rt.Weights, own func() *rt.Weights, options []keys.Option, device_ Device_) (*rt.Prepared[weights], error) {
	w, err := keys.Load(raw, own, wanted, options...)
	if err != nil {
		return nil, err
	}
	p, err := prepare_(w)
	if err != nil {
		return nil, err
	}
	return rt.NewReady(p), nil
}

// fitted_raw returns other weights under the names and in the shapes of the source model.
func fitted_raw(raw *rt.Weights, own func() *rt.Weights, options []keys.Option, device_ Device_) (*rt.Prepared[weights], error) {
	w, err := keys.Load(raw, own, wanted, options...)
	if err != nil {
		return nil, err
	}
	if err := keys.Check(w, wanted); err != nil {
		return nil, err
	}
	return rt.NewPrepared(w, prepare_), nil
}

// wanted lists the weights of the source model.
var wanted = []keys.Want{want_}

// Wanted returns the names, types and shapes of the weights that LoadFrom takes. The caller must
// not change them.
func Wanted() []keys.Want {
	return wanted
}

// On returns a model with the same weights on another device. Options choose it, as those of Load do.
// The model m does not change.
func (m *Model) On(option_ Option_) (*Model, error) {
	if err := m.loaded(); err != nil {
		return nil, err
	}
	open_()
	return newModel(shared_, device_), nil
}

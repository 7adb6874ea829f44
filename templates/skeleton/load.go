//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// Load_embedded returns the model with the weights in the program, which it uses without copying.opens_
func Load_embedded(option_ Option_) (*Model, error) {
	open_()
	return loadPrepared(rt.OpenWeights(embedded), device_)
}

// Load_file returns the model with the weights of the file that was generated with the package. It
// maps the file into memory.opens_
func Load_file(path string, option_ Option_) (*Model, error) {
	open_()
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	return loadPrepared(w, device_)
}

// loadPrepared returns the model with the weights of the package's own file.
func loadPrepared(w *rt.Weights, device_ Device_) (*Model, error) {
	p := &weights{tensor_}
	if err := w.Err(); err != nil {
		return nil, err
	}
	rt.Keep(p, w)
	return newModel(rt.NewReady(p), device_), nil
}

// Load_raw returns the model with the weights in the program.opens_
func Load_raw(option_ Option_) (*Model, error) {
	open_()
	return loadRaw(opened_, device_)
}

// Load_rawFile returns the model with the weights of file_, which it maps into memory.opens_
func Load_rawFile(path string, option_ Option_) (*Model, error) {
	open_()
	return loadRaw(opened_, device_)
}

// loadRaw returns the model with the weights of the package's own file.
func loadRaw(raw *rt.Weights, device_ Device_) (*Model, error) {
	raw.Abandon()
	if err := keys.Check(raw, wanted); err != nil {
		return nil, err
	}
	return newModel(rt.NewPrepared(raw, prepare_), device_), nil
}

// loadRaw_stored returns the model with the weights of the package's own file. The file also holds
// prepared weights, unless Save wrote it.
func loadRaw_stored(own *rt.Weights, device_ Device_) (*Model, error) {
	p := stored(own.Fork())
	raw := own.Without(others_)
	raw.Abandon()
	if err := keys.Check(raw, wanted); err != nil {
		return nil, err
	}
	w := rt.NewPrepared(raw, prepare_)
	w.Set(p)
	return newModel(w, device_), nil
}

// stored returns the prepared weights in a file, or nil if the file does not have them.
func stored(w *rt.Weights) *weights {
	p := &weights{tensor_}
	if w.Err() != nil {
		return nil
	}
	rt.Keep(p, w)
	return p
}

// New returns the model with initial weights, which are drawn from the seed. The same seed gives
// the same weights on every machine.
func New(seed uint64) *Model {
	open_()
	return newModel(rt.NewPrepared(rt.InitialWeights(seed, initial, given_), prepare_), device_)
}

// initial describes the initial weights.
var initial = []rt.Initial{begins_}

// Save writes the weights to a file, under the names of the source model. LoadFrom reads the file.
func (m *Model) Save(path string) error {
	if err := m.loaded(); err != nil {
		return err
	}
	return m.weights.Load().Raw().Save(path)
}

//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// Load_embedded returns the model with the weights in the program, which it uses without copying.
func Load_embedded() (*Model, error) {
	return loadPrepared(rt.OpenWeights(embedded))
}

// Load_file returns the model with the weights of the file that was generated with the package. It
// maps the file into memory.
func Load_file(path string) (*Model, error) {
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	return loadPrepared(w)
}

// loadPrepared returns the model with the weights of the package's own file.
func loadPrepared(w *rt.Weights) (*Model, error) {
	p := &weights{tensor_}
	if err := w.Err(); err != nil {
		return nil, err
	}
	rt.Keep(p, w)
	return newModel(rt.NewReady(p)), nil
}

// Load_raw returns the model with the weights in the program.
func Load_raw() (*Model, error) {
	return loadRaw(opened_)
}

// Load_rawFile returns the model with the weights of file_, which it maps into memory.
func Load_rawFile(path string) (*Model, error) {
	return loadRaw(opened_)
}

// loadRaw returns the model with the weights of the package's own file.
func loadRaw(raw *rt.Weights) (*Model, error) {
	raw.Abandon()
	if err := keys.Check(raw, wanted); err != nil {
		return nil, err
	}
	return newModel(rt.NewPrepared(raw, prepare)), nil
}

// loadRaw_stored returns the model with the weights of the package's own file. The file also holds
// prepared weights, unless Save wrote it.
func loadRaw_stored(own *rt.Weights) (*Model, error) {
	p := stored(own.Fork())
	raw := own.Without(others_)
	raw.Abandon()
	if err := keys.Check(raw, wanted); err != nil {
		return nil, err
	}
	w := rt.NewPrepared(raw, prepare)
	w.Set(p)
	return newModel(w), nil
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
	return newModel(rt.NewPrepared(rt.InitialWeights(seed, initial, given_), prepare))
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

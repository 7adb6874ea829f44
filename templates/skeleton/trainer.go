//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import "github.com/burngen/burngen/runtime/rt"

// TrainerOptions configures a trainer.
type TrainerOptions struct {
	batch_   Batch_
	Seed     uint64   // seed of random numbers
	Freeze   []string // patterns of parameters not to train, see rt.MatchName
	CheckNaN bool     // checks_
}

// Trainer trains a copy of a model's weights. Results of its methods are valid until the next call.
// A call while another one runs returns rt.ErrBusy.
type Trainer struct {
	rt.Trainer[trained, changes]
	field_ Field_
}

// variables returns the weights that training changes. Steps read them as w, and write gradients
// and new values to g.
func variables(w *trained, g *changes) []rt.Variable {
	return []rt.Variable{variable_}
}

// NewTrainer returns a trainer of a copy of the model's weights. The model itself does not change.
func (m *Model) NewTrainer(o TrainerOptions) (*Trainer, error) {
	if err := m.loaded(); err != nil {
		return nil, err
	}
	raw := m.weights.Load().Raw().Fork()
	read_()
	w := &trained{tensor_}
	t := &Trainer{}
	if err := rt.OpenTrainer(&t.Trainer, raw, w, variables, options_, method_); err != nil {
		return nil, err
	}
	fields_()
	return t, nil
}

// Model returns a model with a copy of the current weights. It prepares them on first use.
func (t *Trainer) Model() *Model {
	open_()
	return newModel(rt.NewPrepared(t.Weights(), prepare_), device_)
}

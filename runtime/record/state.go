package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// SaveState writes the state of the parts to a file, as [Recorder.Save] does. The caller chooses
// the names in parts. With the precisions [Half] and [Full], the state may lose bits, and training
// then does not resume exactly.
func (r Recorder) SaveState(path string, parts map[string]rt.Stater) error {
	w, err := rt.CollectState(parts)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return r.Save(path, w)
}

// EncodeState returns the contents of the file that SaveState writes.
func (r Recorder) EncodeState(parts map[string]rt.Stater) ([]byte, error) {
	w, err := rt.CollectState(parts)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return r.Encode(w)
}

// SaveState writes the states of parts to a file. The keys of parts are names that the caller
// chooses. The extension of path selects the format of the file; see [For].
func SaveState(path string, parts map[string]rt.Stater) error {
	r, err := For(path)
	if err != nil {
		return err
	}
	return r.SaveState(path, parts)
}

// LoadState restores the state of the parts from a file that [SaveState] or [rt.SaveState] wrote,
// in any format. It returns the errors of [Open] and of [rt.RestoreState], and an error if the file
// has no checksum. After an error, no part has changed, except if a function of an [rt.StateFunc]
// returned the error.
func LoadState(path string, parts map[string]rt.Stater) error {
	w, err := finish(rt.ReadWeightsFile(path, read), true)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer w.Close()
	if err := rt.RestoreState(w, parts); err != nil {
		return fmt.Errorf("record: %s: %w", path, err)
	}
	return nil
}

// DecodeState restores the state of the parts from data, the contents of a file, as [LoadState]
// does.
func DecodeState(data []byte, parts map[string]rt.Stater) error {
	w, err := parse(data, true)
	if err == nil {
		err = rt.RestoreState(w, parts)
	}
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Value returns a [rt.Stater] for a variable that package encoding/json can encode: a step count, a
// configuration, a list of losses, a struct of these. x points to it; saving and restoring return
// an error if x is nil.
func Value[T any](x *T) rt.Stater { return value[T]{x} }

type value[T any] struct{ x *T }

var errNoVariable = errors.New("the pointer is nil")

// State implements [rt.Stater]. It registers the variable as JSON.
func (v value[T]) State(s *rt.State) {
	rt.StateBytes(s, "json",
		func() ([]byte, error) {
			if v.x == nil {
				return nil, errNoVariable
			}
			return json.Marshal(v.x)
		},
		func(saved []byte) (func(), error) {
			if v.x == nil {
				return nil, errNoVariable
			}
			x := new(T)
			if err := json.Unmarshal(saved, x); err != nil {
				return nil, err
			}
			return func() { *v.x = *x }, nil
		})
}

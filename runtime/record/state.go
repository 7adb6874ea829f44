package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// SaveState writes the state of the parts, which are named by the caller, into a file as
// [Recorder.Save] does. In [Half] and [Full] precision less may be restored than was
// saved: training does not go on bit for bit.
func (r Recorder) SaveState(path string, parts map[string]rt.Stater) error {
	w, err := rt.CollectState(parts)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return r.Save(path, w)
}

// EncodeState returns the file that SaveState writes.
func (r Recorder) EncodeState(parts map[string]rt.Stater) ([]byte, error) {
	w, err := rt.CollectState(parts)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return r.Encode(w)
}

// SaveState writes the state of the parts, which are named by the caller, into a file in
// the format that its name asks for, see [For].
func SaveState(path string, parts map[string]rt.Stater) error {
	r, err := For(path)
	if err != nil {
		return err
	}
	return r.SaveState(path, parts)
}

// LoadState restores the state of the parts from a file that SaveState wrote, of any
// format, or that [rt.SaveState] did. Errors are those of [Open] and of
// [rt.RestoreState]: no part has changed then.
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

// DecodeState restores the state of the parts from data, the file that SaveState writes.
// See [LoadState].
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

// Value returns the state of any variable that package encoding/json writes and reads: a
// step count, a configuration, a list of losses, a struct of them. x points at it; nil is an
// error of saving and of restoring.
func Value[T any](x *T) rt.Stater { return value[T]{x} }

type value[T any] struct{ x *T }

var errNoVariable = errors.New("value of a nil pointer")

// State registers the variable as JSON.
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

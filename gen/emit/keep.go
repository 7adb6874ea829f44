package emit

import "errors"

// Keep is the form in which a package keeps its weights.
type Keep int

const (
	// KeepPrepared keeps the weights in the form that kernels read, computed during generation. The package does
	// not have the weights of the source model.
	KeepPrepared Keep = iota
	// KeepRaw keeps the weights in the form of the source model. The program prepares the weights when it first
	// infers.
	KeepRaw
	// KeepBoth keeps both forms in one file. The program infers without preparing weights, and can train and save
	// the source model's weights.
	KeepBoth
)

var keeps = [...]string{KeepPrepared: "prepared", KeepRaw: "raw", KeepBoth: "both"}

// Set sets k from "prepared", "raw" or "both". It returns an error for another text.
func (k *Keep) Set(text string) error {
	for i, name := range keeps {
		if text == name {
			*k = Keep(i)
			return nil
		}
	}
	return errors.New("prepared, raw or both expected")
}

// HasRaw reports whether the package has the weights of the source model.
func (k Keep) HasRaw() bool { return k != KeepPrepared }

// HasPrepared reports whether the package has the weights that kernels read.
func (k Keep) HasPrepared() bool { return k != KeepRaw }

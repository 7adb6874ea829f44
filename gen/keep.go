package gen

import "errors"

// Keep says which weights the file of a package holds.
type Keep int

const (
	// KeepPrepared is those that kernels read, made when the package is generated. A package
	// that trains has the model's own all the same.
	KeepPrepared Keep = iota
	// KeepRaw is the model's own, of which the others are made when they are first used. The
	// file is the one that they came from, where [Foreign] says so.
	KeepRaw
	// KeepBoth is both: nothing is made when a program starts, and the model's own weights
	// can be trained and saved.
	KeepBoth
)

var keeps = [...]string{KeepPrepared: "prepared", KeepRaw: "raw", KeepBoth: "both"}

// Set makes k what "prepared", "raw" or "both" says. Error: another text.
func (k *Keep) Set(text string) error {
	for i, name := range keeps {
		if text == name {
			*k = Keep(i)
			return nil
		}
	}
	return errors.New("prepared, raw or both expected")
}

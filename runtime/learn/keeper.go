package learn

import (
	"fmt"
	"math"
)

// Checkpoint is a state of a run in a file, with the values that were measured there.
type Checkpoint struct {
	File   string            `json:"file"`             // in the folder of the run, with slashes
	Epoch  int               `json:"epoch"`            // of the batch before, from 0
	Step   int               `json:"step"`             // steps that were taken
	Ends   bool              `json:"ends"`             // it is at the end of its epoch
	Values map[string]Number `json:"values,omitempty"` // by keys such as "valid accuracy"
	Gone   bool              `json:"gone,omitempty"`   // it was deleted
}

// Keeper decides which checkpoints a run keeps. The run keeps the newest checkpoint even if Keep
// returns false for it.
type Keeper interface {
	// Keep returns, for each element of `all`, whether to keep it. all has the checkpoints of the run,
	// the oldest first. It includes the checkpoints that were deleted.
	Keep(all []Checkpoint) []bool
}

// Last keeps the last n checkpoints. [New] returns an error if n is below 1.
func Last(n int) Keeper { return last(n) }

type last int

func (n last) Keep(all []Checkpoint) []bool {
	keep := make([]bool, len(all))
	for i := range keep {
		keep[i] = len(all)-i <= int(n)
	}
	return keep
}

func (n last) bind(directions) error { return atLeastOne("last", int(n)) }

// atLeastOne returns an error if n, a number of checkpoints or epochs, is below 1.
func atLeastOne(name string, n int) error {
	if n < 1 {
		return fmt.Errorf("keep: %s %d: at least 1 expected", name, n)
	}
	return nil
}

// Every keeps the checkpoints at the ends of epochs n, 2n, 3n, and so on, counted from 1. [New]
// returns an error if n is below 1.
func Every(n int) Keeper { return every(n) }

type every int

func (n every) Keep(all []Checkpoint) []bool {
	keep := make([]bool, len(all))
	for i, c := range all {
		keep[i] = c.Ends && (c.Epoch+1)%max(1, int(n)) == 0
	}
	return keep
}

func (n every) bind(directions) error { return atLeastOne("every", int(n)) }

// Best keeps the checkpoint with the best value of a metric, such as "valid accuracy". If several
// checkpoints have this value, it keeps the first one. NaN counts as no value. The metric says whether
// larger or smaller values are better. [New] returns an error if it does not say this, or if the
// metric is not measured.
func Best(key string) Keeper { return &best{key: key} }

type best struct {
	key    string
	better int
}

func (b *best) Keep(all []Checkpoint) []bool {
	keep := make([]bool, len(all))
	if i := bestOf(all, b.key, b.better); i >= 0 {
		keep[i] = true
	}
	return keep
}

// bestOf returns the index of the checkpoint with the best value of key, of a tie the first one. It
// returns -1 if no checkpoint has a value other than NaN. better is 1 if larger values are better, -1
// if smaller ones are.
func bestOf(all []Checkpoint, key string, better int) int {
	at, value := -1, math.NaN()
	for i, c := range all {
		if v, ok := c.Values[key]; ok && isBetter(better, float64(v), value, 0) {
			at, value = i, float64(v)
		}
	}
	return at
}

func (b *best) bind(d directions) (err error) {
	if b.better, err = d.of(b.key); err != nil {
		return fmt.Errorf("keep: best: %w", err)
	}
	return nil
}

// Both keeps a checkpoint if every keeper keeps it. Without keepers, Both does not keep any
// checkpoint.
func Both(keepers ...Keeper) Keeper { return joined{keepers, true} }

// Either keeps a checkpoint if at least one keeper keeps it. Without keepers, Either does not keep
// any checkpoint.
func Either(keepers ...Keeper) Keeper { return joined{keepers, false} }

type joined struct {
	of  []Keeper
	all bool
}

func (j joined) Keep(all []Checkpoint) []bool {
	keep := make([]bool, len(all))
	for i := range keep {
		keep[i] = j.all && len(j.of) > 0
	}
	for _, k := range j.of {
		for i, wants := range k.Keep(all) {
			if i < len(keep) && wants != j.all {
				keep[i] = wants
			}
		}
	}
	return keep
}

func (j joined) bind(d directions) error {
	for _, k := range j.of {
		if k == nil {
			return fmt.Errorf("keep: a keeper is nil")
		}
		if err := bind(k, d); err != nil {
			return err
		}
	}
	return nil
}

// unwanted sets Gone in the checkpoints that k does not keep, and returns their files. It skips
// the newest checkpoint, whatever k says, and checkpoints that are gone already.
func unwanted(k Keeper, all []Checkpoint) (files []string) {
	keep := k.Keep(all)
	for i := range all {
		newest := i == len(all)-1
		if c := &all[i]; !c.Gone && !newest && i < len(keep) && !keep[i] {
			c.Gone = true
			files = append(files, c.File)
		}
	}
	return files
}

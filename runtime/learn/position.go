package learn

import (
	"maps"
	"slices"
	"time"
)

// position is how far a run has come, and the values that it must remember to continue. It is
// saved as JSON.
type position struct {
	Epoch, Batch int // of the batch that follows
	// number of steps so far
	Step     int
	Validate bool // a validation within the epoch comes first

	// duration of the training
	Elapsed time.Duration
	Began   time.Duration // Elapsed when the epoch began
	Stopped string        // reason of the stopper that ended the run

	// the best value of each key of directions
	Best        map[string]bestValue
	Last        map[string]Number // by keys
	Checkpoints []Checkpoint
}

type bestValue struct {
	Value Number `json:"value"`
	Epoch int    `json:"epoch"` // from 0
	Step  int    `json:"step"`
	File  string `json:"file,omitempty"` // in best.json: the checkpoint with this value, if it is kept
}

func newPosition() position {
	return position{Best: map[string]bestValue{}, Last: map[string]Number{}}
}

// clone returns a copy of p that later changes of p do not affect.
func (p *position) clone() position {
	c := *p
	c.Best, c.Last, c.Checkpoints = maps.Clone(p.Best), maps.Clone(p.Last), slices.Clone(p.Checkpoints)
	return c
}

type place struct {
	epoch, batch, step int
	validate           bool
}

func (p *position) place() place { return place{p.Epoch, p.Batch, p.Step, p.Validate} }

// bestFile returns the contents of best.json, in which epochs are numbered from 1.
func (p *position) bestFile() map[string]bestValue {
	out := map[string]bestValue{}
	for key, b := range p.Best {
		b.Epoch++
		for _, c := range p.Checkpoints {
			if v, ok := c.Values[key]; ok && v == b.Value && c.Step == b.Step && !c.Gone {
				b.File = c.File
			}
		}
		out[key] = b
	}
	return out
}

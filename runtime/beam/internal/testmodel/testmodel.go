// Package testmodel is the model of examples/digits with the description that -serve adds, for tests.
package testmodel

import (
	digits "github.com/burngen/burngen/examples/digits/model"
	"github.com/burngen/burngen/runtime/rt"
)

// Model is the model.
type Model struct{ *digits.Model }

// Image is an item of its input.
type Image = digits.Image

// Load loads the model.
func Load() (*Model, error) {
	m, err := digits.Load()
	return &Model{m}, err
}

// Served describes the model.
func (m *Model) Served() rt.Served {
	return rt.Served{
		Name: "digits",
		Methods: []rt.ServedMethod{{
			Name:    "Forward",
			Inputs:  []rt.Port{{Name: "image", DType: "f32", Shape: []string{"N", "1", "28", "28"}}},
			Outputs: []rt.Port{{Name: "logits", DType: "f32", Shape: []string{"N", "10"}}},
			Batch:   "N",
		}},
		Open: func() (any, error) { return m.NewSession(nil) },
	}
}

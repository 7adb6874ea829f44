// Package task trains networks one step at a time, for a page that shows how they learn.
package task

import (
	"fmt"
	"image"
)

// Task is a network that learns.
type Task interface {
	// Step trains on a few examples and returns their mean loss.
	Step() (loss float64, err error)
	// Look returns what the network answers now.
	Look() (View, error)
}

// View is what a network answers to the examples that it is tested on.
type View struct {
	// Right is the number of right answers, and Of the number of examples.
	Right, Of int
	// Picture shows the answers.
	Picture *image.RGBA
}

// New returns a task with initial weights: "xor" is exclusive or, and "digits" are drawn digits. It returns an error
// for another name. Equal seeds give equal tasks.
func New(name string, seed uint64) (Task, error) {
	switch name {
	case "xor":
		return newXOR(seed)
	case "digits":
		return newDigits(seed)
	}
	return nil, fmt.Errorf("there is no task %q; the tasks are xor and digits", name)
}

package metric

import (
	"fmt"
	"math"
)

// Boxes is an output of a detector: each item has any number of boxes.
type Boxes struct {
	Loss      float32 // mean loss of the items
	Predicted [][]Box // of each item
	Targets   [][]Box // of each item
}

// Box is a rectangle with a class. Coordinates may have any unit.
type Box struct {
	Left, Top, Right, Bottom float32
	Class                    int64   // from 0
	Score                    float32 // of a prediction; larger is more certain
	// Crowd marks a target that stands for several objects. Predictions inside of it are neither right
	// nor wrong.
	Crowd bool
}

// Lost returns the loss and the number of items.
func (b Boxes) Lost() (float64, int) { return float64(b.Loss), len(b.Targets) }

// check returns an error if the numbers of items differ or a box is not valid.
func (b Boxes) check() error {
	if len(b.Predicted) != len(b.Targets) {
		return fmt.Errorf("predictions for %d items and targets for %d: as many expected", len(b.Predicted), len(b.Targets))
	}
	for i := range b.Targets {
		if err := checkBoxes(b.Predicted[i]); err != nil {
			return fmt.Errorf("item %d: predicted %w", i, err)
		}
		if err := checkBoxes(b.Targets[i]); err != nil {
			return fmt.Errorf("item %d: target %w", i, err)
		}
	}
	return nil
}

func checkBoxes(boxes []Box) error {
	for i, b := range boxes {
		switch {
		case b.Class < 0:
			return fmt.Errorf("box %d: class %d: a number from 0 expected", i, b.Class)
		case !(b.Left <= b.Right) || !(b.Top <= b.Bottom) || math.IsInf(b.area(), 0) || math.IsNaN(b.area()):
			return fmt.Errorf("box %d: from (%g, %g) to (%g, %g): not a rectangle", i, b.Left, b.Top, b.Right, b.Bottom)
		case b.Score != b.Score:
			return fmt.Errorf("box %d: the score is NaN", i)
		}
	}
	return nil
}

func (b Box) area() float64 {
	return (float64(b.Right) - float64(b.Left)) * (float64(b.Bottom) - float64(b.Top))
}

// overlapWith returns the intersection over union of a prediction and a target. If the target is a
// crowd, it returns the intersection over the area of the prediction.
func (b Box) overlapWith(target Box) float64 {
	inside := Box{Left: max(b.Left, target.Left), Top: max(b.Top, target.Top), Right: min(b.Right, target.Right), Bottom: min(b.Bottom, target.Bottom)}
	if inside.Left >= inside.Right || inside.Top >= inside.Bottom {
		return 0
	}
	union := b.area()
	if !target.Crowd {
		union += target.area() - inside.area()
	}
	return ratio(inside.area(), union)
}

package metric

import "fmt"

// Texts is an output of a model that writes or recognises text.
type Texts struct {
	Loss       float32    // mean loss of the items
	Predicted  []string   // one for each item
	References [][]string // at least one for each item
}

// Lost returns the loss and the number of items.
func (t Texts) Lost() (float64, int) { return float64(t.Loss), len(t.Predicted) }

// each calls f for each item with its references. It returns an error if Predicted and References
// differ in length, or if an item does not have a reference.
func (t Texts) each(f func(predicted string, references []string)) error {
	if len(t.Predicted) != len(t.References) {
		return fmt.Errorf("%d predictions and references of %d items: as many expected", len(t.Predicted), len(t.References))
	}
	for i, refs := range t.References {
		if len(refs) == 0 {
			return fmt.Errorf("item %d: no reference", i)
		}
		f(t.Predicted[i], refs)
	}
	return nil
}

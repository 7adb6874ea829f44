package op

import "github.com/burngen/burngen/ir"

// SequenceAt returns the element of a sequence at a position, i32 or i64. A negative position counts from the end.
// A position out of range is an error at run time. Extents has one entry for each axis: the symbol to bind if the
// extent differs between elements, and "" otherwise.
type SequenceAt struct{ Extents []string }

// Infer returns the type of an element. If an extent differs between elements, it is a symbol of Extents.
func (op SequenceAt) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 2, 2); err != nil {
		return nil, err
	}
	elem, err := sequenceElem(in, 0)
	if err != nil {
		return nil, err
	}
	if err := checkPosition(in, 1); err != nil {
		return nil, err
	}
	item, err := inferItem(elem, op.Extents)
	return []ir.Type{item}, err
}

// Eval returns the element at the position. It returns an error if the position is out of range.
func (op SequenceAt) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	items := in[0].Items
	at, err := itemIndex(in[1].Int(0), len(items), len(items)-1)
	if err != nil {
		return nil, err
	}
	return items[at : at+1], nil
}

// Binds returns the symbols of Extents.
func (op SequenceAt) Binds() []string { return boundExtents(op.Extents) }

// BindValues returns the values of the symbols in Extents, which are extents of the element.
func (op SequenceAt) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return extentValues(op.Extents, out[0].Shape)
}

func importSequenceAt(c ir.Importer) ([]*ir.Value, error) {
	seq, position := c.Arg(0), c.Arg(1)
	elem, err := sequenceElem([]ir.Type{seq.Type}, 0)
	if err != nil {
		return nil, err
	}
	if items, ok := knownItems(seq); ok {
		at, ok, err := knownPosition(position, len(items), len(items)-1)
		if err != nil {
			return nil, err
		}
		if ok {
			return items[at : at+1], nil
		}
	}
	rank, err := itemRank(c, elem)
	if err != nil {
		return nil, err
	}
	b := c.Builder()
	return b.Nodes(SequenceAt{Extents: newExtents(b, itemShape(elem, rank))}, seq, position), nil
}

package value

import (
	"errors"
	"reflect"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// Operands returns copies of the values that a step reads, as tensors. A nil reference stands for an absent operand,
// and its tensor is nil.
func Operands(f *exec.Frame, refs []*plan.Ref) ([]*ir.Tensor, error) {
	tensors := make([]*ir.Tensor, len(refs))
	for i, r := range refs {
		if r == nil {
			continue
		}
		elems, err := f.Slice(r)
		shape, unknown := f.Ints(r.Value.Type.Shape)
		if err := errors.Join(err, unknown); err != nil {
			return nil, err
		}
		if tensors[i], err = FromGo(r.Value.Type, shape, elems.Interface()); err != nil {
			return nil, err
		}
	}
	return tensors, nil
}

// SetResults writes tensors to the memory of a step's results. refs refer to the results.
func SetResults(f *exec.Frame, refs []*plan.Ref, results []*ir.Tensor) error {
	for i, r := range refs {
		if err := f.Set(r, reflect.ValueOf(ToGo(results[i]))); err != nil {
			return err
		}
	}
	return nil
}

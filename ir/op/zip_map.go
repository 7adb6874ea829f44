package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ZipMap returns a sequence of maps, one for each row of a matrix [N,C] (ONNX ZipMap). The second operand is C
// keys, i64 or strings. A map has the elements of the row as values, in the order of the keys. If a key occurs
// twice, its last value is used.
type ZipMap struct{}

// Infer returns a sequence of maps. The keys of a map have the type of the keys' operand, and its values are
// scalars of the matrix's type.
func (op ZipMap) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, keys := in[0], in[1]
	if x.Rank() != 2 || keys.Rank() != 1 {
		return nil, fmt.Errorf("rows %s for keys %s, a matrix and a vector expected", x, keys)
	}
	if err := keyType(keys.DType); err != nil {
		return nil, err
	}
	if err := Same(x.Shape[1], keys.Shape[0], "keys"); err != nil {
		return nil, err
	}
	return []ir.Type{ir.SequenceOf(ir.MapOf(keys.DType, ir.TensorOf(x.DType)))}, nil
}

func keyType(d ir.DType) error {
	if d != ir.I64 && d != ir.String {
		return fmt.Errorf("keys are %s, i64 or strings expected", d)
	}
	return nil
}

// Eval returns the sequence of maps, one for each row.
func (op ZipMap) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, keys := in[0], in[1]
	order := sortedKeys(keys)
	typ := *out[0].Elem
	maps := make([]*ir.Tensor, x.Shape[0])
	for r := range maps {
		items := make([]*ir.Tensor, len(order))
		for i, at := range order {
			items[i] = ir.NewTensor(x.DType)
			items[i].Copy(0, x, r*keys.Len()+at)
		}
		maps[r] = ir.MapTensor(*typ.Elem, pickElems(keys, order), items)
	}
	return []*ir.Tensor{ir.SequenceTensor(typ, maps...)}, nil
}

func importZipMap(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	labels, err := classLabels(c, "classlabels_int64s")
	if err != nil {
		return nil, err
	}
	x, err := matrixOf(b, c.Arg(0))
	if err != nil {
		return nil, err
	}
	return []*ir.Value{b.Node(ZipMap{}, x, b.Const(labels))}, nil
}

package op

import "github.com/burngen/burngen/ir"

// importFusedMatMul reads FusedMatMul of com.microsoft, and its former name
// TransposeMatMul: alpha times the [MatMul] of operands that may be given with their
// axes in another order. The last two axes are exchanged by transA and transB; the
// rows stand first, before the batch, where transBatchA and transBatchB say so.
func importFusedMatMul(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x := matrixAxes(b, c.Arg(0), c.Int("transBatchA", 0) != 0, c.Int("transA", 0) != 0)
	y := matrixAxes(b, c.Arg(1), c.Int("transBatchB", 0) != 0, c.Int("transB", 0) != 0)
	return []*ir.Value{times(b, b.Node(MatMul{}, x, y), c.Float("alpha", 1))}, nil
}

// matrixAxes appends matrices with their first axis moved behind the batch, and
// then with the last two exchanged.
func matrixAxes(b *ir.Builder, v *ir.Value, rowsFirst, transposed bool) *ir.Value {
	perm, rank := allAxes(v.Type.Rank()), v.Type.Rank()
	if rank < 2 {
		return v
	}
	if rowsFirst {
		copy(perm, perm[1:rank-1])
		perm[rank-2] = 0
	}
	if transposed {
		perm[rank-2], perm[rank-1] = perm[rank-1], perm[rank-2]
	}
	return transpose(b, v, perm...)
}

// importFusedMatMulActivation reads FusedMatMulActivation of com.microsoft.
func importFusedMatMulActivation(c ir.Importer) ([]*ir.Value, error) {
	out, err := importFusedMatMul(c)
	if err == nil {
		out[0], err = activatedByName(c, out[0])
	}
	return out, err
}

// importFusedGemm reads FusedGemm of com.microsoft: [Gemm] and an activation.
func importFusedGemm(c ir.Importer) ([]*ir.Value, error) {
	out, err := asOpset(13, importGemm)(c)
	if err == nil {
		out[0], err = activatedByName(c, out[0])
	}
	return out, err
}

// importGemmFastGelu reads GemmFastGelu of com.microsoft: the approximate [Gelu] of
// a [MatMul] plus an optional bias.
func importGemmFastGelu(c ir.Importer) ([]*ir.Value, error) {
	product := c.Builder().Node(MatMul{}, c.Arg(0), c.Arg(1))
	return importFastGelu(withArgs(c, product, c.Arg(2)))
}

package op

import "github.com/burngen/burngen/ir"

// importFusedMatMul imports FusedMatMul of com.microsoft, formerly TransposeMatMul: alpha times the [MatMul] of two
// operands. The axes of an operand may be in another order. With transA or transB, its last two axes are swapped.
// With transBatchA or transBatchB, its first axis holds the rows, and the batch follows.
func importFusedMatMul(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x := matrixAxes(b, c.Arg(0), c.Int("transBatchA", 0) != 0, c.Int("transA", 0) != 0)
	y := matrixAxes(b, c.Arg(1), c.Int("transBatchB", 0) != 0, c.Int("transB", 0) != 0)
	return []*ir.Value{times(b, b.Node(MatMul{}, x, y), c.Float("alpha", 1))}, nil
}

// matrixAxes permutes the axes of v. If rowsFirst is true, v is [rows,batch…,columns] and becomes
// [batch…,rows,columns]. If transposed is true, the last two axes are then swapped. A vector is returned unchanged.
func matrixAxes(b *ir.Builder, v *ir.Value, rowsFirst, transposed bool) *ir.Value {
	perm, rank := AllAxes(v.Type.Rank()), v.Type.Rank()
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
	return TransposeBy(b, v, perm...)
}

func importFusedMatMulActivation(c ir.Importer) ([]*ir.Value, error) {
	out, err := importFusedMatMul(c)
	if err == nil {
		out[0], err = activatedByName(c, out[0])
	}
	return out, err
}

func importFusedGemm(c ir.Importer) ([]*ir.Value, error) {
	out, err := asOpset(13, importGemm)(c)
	if err == nil {
		out[0], err = activatedByName(c, out[0])
	}
	return out, err
}

// importGemmFastGelu imports GemmFastGelu of com.microsoft: the approximate [Gelu] of the sum of a [MatMul] and an
// optional bias.
func importGemmFastGelu(c ir.Importer) ([]*ir.Value, error) {
	product := c.Builder().Node(MatMul{}, c.Arg(0), c.Arg(1))
	return importFastGelu(withArgs(c, product, c.Arg(2)))
}

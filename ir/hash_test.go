package ir_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestHash asserts that operators that are equal have equal hashes, and that a change of any attribute
// changes the hash.
func TestHash(t *testing.T) {
	n := dim.Sym("N")
	ops := []func() ir.Op{
		func() ir.Op { return op.Relu{} },
		func() ir.Op { return op.Neg{} },
		func() ir.Op { return op.Softmax{Axis: 0} },
		func() ir.Op { return op.Softmax{Axis: 1} },
		func() ir.Op { return op.Transpose{Perm: []int{1, 0}} },
		func() ir.Op { return op.Transpose{Perm: []int{0, 1}} },
		func() ir.Op { return op.Reshape{Shape: []dim.Dim{n, dim.Const(4)}} },
		func() ir.Op { return op.Reshape{Shape: []dim.Dim{dim.Const(4), n}} },
		func() ir.Op { return ir.Constant{Value: ir.FloatTensor(ir.F32, 1, 2)} },
		func() ir.Op { return ir.Constant{Value: ir.FloatTensor(ir.F32, 2, 1)} },
		func() ir.Op { return ir.Constant{Value: ir.FloatTensor(ir.F64, 1, 2)} },
		func() ir.Op { return ir.Load{Name: "a"} },
		func() ir.Op { return ir.Load{Name: "b"} },
	}
	for i, a := range ops {
		for j, b := range ops {
			same := i == j
			if ir.Equal(a(), b()) != same || (ir.Hash(a()) == ir.Hash(b())) != same {
				t.Errorf("%#v and %#v: equal %v, hashes %x and %x", a(), b(), ir.Equal(a(), b()), ir.Hash(a()), ir.Hash(b()))
			}
		}
	}
}

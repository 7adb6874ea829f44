package call

import (
	"math"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// epilogue returns the cpu.Epilogue for the epilogue e of a node. Operand 2 is the bias, and operand 3 the
// residual. Operands 4 and 5 are the further operands of e's region of elementwise operators, see [op.Epilogue].
func epilogue(e op.Epilogue, n node) *kernel.Epilogue {
	s := &kernel.Epilogue{Bias: n.in(2), Residual: n.in(3)}
	switch {
	case e.Clamp && activation(e) != "":
		s.Act = activation(e)
	case e.Clamp:
		s.Clamp = true
		s.Lo = kernel.Number{DType: ir.F32, Float: float64(e.Lo)}
		s.Hi = kernel.Number{DType: ir.F32, Float: float64(e.Hi)}
	}
	if len(n.Blocks) > 0 {
		s.Then = n.Blocks[0]
		s.In = []kernel.Memory{n.in(4), n.in(5)}
	}
	return s
}

// activation returns the name of the activation that clamps to the limits of e, or "" if there is no
// such activation.
func activation(e op.Epilogue) kernel.Constant {
	switch {
	case e.Lo != 0 || math.Signbit(float64(e.Lo)):
		return ""
	case math.IsInf(float64(e.Hi), 1):
		return "ReLU"
	case e.Hi == 6:
		return "ReLU6"
	}
	return ""
}

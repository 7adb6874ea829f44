package kerneltest

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// Weight is the constraint for elements of panels.
type Weight interface {
	float32 | rt.Float16 | rt.BFloat16
}

// MatMulKernel is a kernel for matrix products, with the functions that pack its second operand, b.
// PanelsLen returns the number of elements of a packed k×n matrix. Pack packs `batch` such
// matrices. In b, rows are ldb elements apart, and matrices stride elements apart. If trans is
// true, a matrix in b is n×k and is transposed.
type MatMulKernel[W Weight] struct {
	Multiply  func(dst, a []float32, panels []W, s *MatMulShape, ep *Epilogue)
	PanelsLen func(k, n int) int
	Pack      func(dst, b []float32, k, n, ldb int, trans bool, batch, stride int)
}

// MatMul tests a product on sizes around the sizes of the tiles, with all epilogues.
func MatMul[W Weight](t *testing.T, mul MatMulKernel[W]) {
	for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 29} {
		for _, n := range []int{1, 15, 16, 17, 32, 33, 48, 63, 96} {
			t.Run(fmt.Sprintf("M=%d N=%d", m, n), func(t *testing.T) {
				for i, k := range []int{0, 1, 3, 4, 21, 64} {
					CheckMatMul(t, mul, MatMulCase{M: m, N: n, K: k, Batch: 1, Epilogue: m + n + i, Seed: uint32(k)})
				}
			})
		}
	}
	for name, c := range map[string]MatMulCase{
		"sums in several parts":        {M: 43, N: 40, K: 1100, Batch: 1, Epilogue: everyStep},
		"two tiles high":               {M: 20, N: 50, K: 1700, Batch: 1, Epilogue: everyStep},
		"two lower tiles high":         {M: 10, N: 37, K: 1601, Batch: 2, PadC: 3, Epilogue: everyStep, InPlace: true},
		"rows in several parts":        {M: 500, N: 24, K: 600, Batch: 1, Epilogue: everyStep},
		"Then on parts of rows":        {M: 20, N: 1100, K: 3, Batch: 1, Epilogue: everyStep},
		"batch":                        {M: 5, N: 18, K: 7, Batch: 3, Epilogue: everyStep},
		"batch of one row":             {M: 1, N: 70, K: 33, Batch: 4},
		"one row of many columns":      {M: 1, N: 1200, K: 300, Batch: 1, Epilogue: everyStep},
		"one row, far panels":          {M: 1, N: 407, K: 700, Batch: 1, Epilogue: withBias | withResidual, Shift: 1},
		"one b for the whole batch":    {M: 4, N: 20, K: 6, Batch: 3, SharedB: true},
		"one a for the whole batch":    {M: 4, N: 20, K: 6, Batch: 3, SharedA: true},
		"rows and batch are one":       {M: 4, N: 32, K: 6, Batch: 5, SharedB: true, Epilogue: everyStep},
		"padded rows":                  {M: 9, N: 37, K: 12, Batch: 2, PadA: 5, PadC: 3, Epilogue: everyStep},
		"unaligned":                    {M: 15, N: 50, K: 30, Batch: 2, Shift: 3, Epilogue: everyStep},
		"b transposed":                 {M: 6, N: 45, K: 20, Batch: 2, Trans: true, PadB: 2},
		"residual in place":            {M: 33, N: 35, K: 1030, Batch: 1, Epilogue: everyStep, InPlace: true},
		"parts of few terms":           {M: 33, N: 45, K: 100, Batch: 2, PadC: 3, Epilogue: everyStep, Terms: 7},
		"parts of a term":              {M: 5, N: 33, K: 9, Batch: 1, Epilogue: everyStep, InPlace: true, Terms: 1},
		"parts of one row":             {M: 1, N: 75, K: 300, Batch: 3, Epilogue: everyStep, Terms: 64},
		"parts of a small row":         {M: 1, N: 20, K: 50, Batch: 1, Epilogue: withBias | withResidual | withClamp, InPlace: true, Terms: 16},
		"parts of one row, far panels": {M: 1, N: 407, K: 700, Batch: 1, Epilogue: withBias | withResidual, Terms: 256},
		"no terms in parts":            {M: 3, N: 20, K: 0, Batch: 1, Epilogue: everyStep, Terms: 8},
		"infinity, NaN, −0, subnormal": {M: 15, N: 33, K: 40, Batch: 1, Epilogue: everyStep, Special: true},
	} {
		t.Run(name, func(t *testing.T) { CheckMatMul(t, mul, c) })
	}
}

// MatMulRows tests a product whose operand b is a plain matrix instead of panels, with a bias for
// each row.
func MatMulRows(t *testing.T, mul MatMulKernel[float32]) {
	for _, m := range []int{1, 2, 5, 6, 7, 13, 14, 15, 29, 60} {
		for _, n := range []int{16, 32, 48, 208} {
			t.Run(fmt.Sprintf("M=%d N=%d", m, n), func(t *testing.T) {
				for i, k := range []int{1, 3, 4, 21, 64} {
					CheckMatMul(t, mul, MatMulCase{M: m, N: n, K: k, Batch: 1, Epilogue: m + n/16 + i, Rows: true, Seed: uint32(k)})
				}
			})
		}
	}
	for name, c := range map[string]MatMulCase{
		"sums in several parts":        {M: 43, N: 48, K: 1100, Batch: 1, Epilogue: everyStep},
		"sums of short parts":          {M: 9, N: 48, K: 300, Batch: 1, Terms: 100, Epilogue: everyStep},
		"batch":                        {M: 17, N: 96, K: 7, Batch: 3, SharedA: true, Epilogue: everyStep},
		"batch of one row":             {M: 1, N: 48, K: 33, Batch: 4, SharedA: true, Epilogue: everyStep},
		"one b for the whole batch":    {M: 4, N: 32, K: 6, Batch: 3, SharedB: true, Epilogue: withBias},
		"Then on parts of rows":        {M: 20, N: 1120, K: 3, Batch: 1, Epilogue: everyStep},
		"padded rows":                  {M: 19, N: 48, K: 12, Batch: 2, PadA: 5, PadB: 3, PadC: 3, Epilogue: everyStep},
		"residual in place":            {M: 33, N: 48, K: 700, Batch: 1, Epilogue: everyStep, InPlace: true},
		"infinity, NaN, −0, subnormal": {M: 15, N: 32, K: 40, Batch: 1, Epilogue: everyStep, Special: true, Shift: 1},
	} {
		c.Rows = true
		t.Run(name, func(t *testing.T) { CheckMatMul(t, mul, c) })
	}
}

// MatMulCase is one product to test.
type MatMulCase struct {
	M, N, K, Batch   int
	PadA, PadB, PadC int // elements between rows
	SharedA, SharedB bool
	Trans            bool // b holds N×K matrices, which are transposed
	Rows             bool // b is not in panels, and the bias is for rows
	Terms            int
	Shift            int  // offset of the operands from an aligned address, in elements
	Epilogue         int  // bits of withBias … withThen
	InPlace          bool // the residual is dst
	Special          bool // the operands include special numbers
	Seed             uint32
}

// Bits of an epilogue to test.
const (
	withBias = 1 << iota
	withResidual
	withClamp
	withThen
	withClampUp // a range without zero
	everyStep   = withBias | withResidual | withClamp | withThen
)

// CheckMatMul compares the kernel's result for one case with the definition.
func CheckMatMul[W Weight](t *testing.T, mul MatMulKernel[W], c MatMulCase) {
	t.Helper()
	s := &MatMulShape{M: c.M, N: c.N, K: c.K, Batch: c.Batch, LDA: c.K + c.PadA, LDC: c.N + c.PadC, Terms: c.Terms}
	countA, countB := 1, 1
	if !c.SharedA {
		s.StrideA, countA = c.M*s.LDA, c.Batch
	}
	if !c.SharedB {
		s.StrideB, countB = mul.PanelsLen(c.K, c.N), c.Batch
	}
	s.StrideC = c.M * s.LDC

	r := NewRandom(c.Seed)
	r.special = c.Special
	a := r.Input(countA*c.M*s.LDA, c.Shift)
	rows, columns := c.K, c.N
	if c.Trans {
		rows, columns = c.N, c.K
	}
	ldb := columns + c.PadB
	b := r.Input(countB*rows*ldb, c.Shift)
	panels := NewSlice[float32](countB*mul.PanelsLen(c.K, c.N), c.Shift)
	mul.Pack(panels.Data, b.Data, c.K, c.N, ldb, c.Trans, countB, rows*ldb)
	panels.Check(t, "panels")
	columnsOfBias := c.N
	if c.Rows {
		panels, columnsOfBias = b, c.M
		s.LDB, s.StrideB, s.RowBias = ldb, s.StrideB/max(1, mul.PanelsLen(c.K, c.N))*rows*ldb, true
	}
	weights := NewSlice[W](len(panels.Data), c.Shift)
	castTo(weights.Data, panels.Data)
	weights.Freeze()
	stored := make([]W, len(b.Data))
	castTo(stored, b.Data)
	factors := make([]float32, len(stored)) // the part of b that is left
	castTo(factors, stored)
	dst := NewSlice[float32](c.Batch*s.StrideC, c.Shift)
	e := newEpilogue(r, c.Epilogue, columnsOfBias, len(dst.Data), c.Shift, nil)
	if c.InPlace {
		copy(dst.Data, e.ep.Residual)
		e.ep.Residual = dst.Data
	}
	mul.Multiply(dst.Data, a.Data, weights.Data, s, &e.ep)

	for name, x := range map[string]*Slice[float32]{"a": a, "b": b, "dst": dst} {
		x.Check(t, name)
	}
	weights.Check(t, "weights")
	e.check(t)
	for i := range c.Batch {
		for row := range c.M {
			for column := range s.LDC {
				at := i*s.StrideC + row*s.LDC + column
				if column >= c.N {
					if math.Float32bits(dst.Data[at]) != stamp*0x01010101 && !c.InPlace {
						t.Fatalf("dst[%d] between rows has been overwritten", at)
					}
					continue
				}
				var sum Sum
				for k := range c.K {
					y := i%countB*rows*ldb + k*ldb + column
					if c.Trans {
						y = i%countB*rows*ldb + column*ldb + k
					}
					sum.Add(a.Data[i*s.StrideA+row*s.LDA+k], factors[y])
				}
				biased := column
				if c.Rows {
					biased = row
				}
				want := e.apply(sum, at, biased)
				if !want.Near(dst.Data[at]) {
					t.Fatalf("%+v: dst[%d][%d][%d] = %v, want %v", c, i, row, column, dst.Data[at], want.Value)
				}
			}
		}
	}
}

// castTo converts elements, rounded to the nearest.
func castTo[D, S Weight](dst []D, src []S) {
	for i, v := range src {
		var x float32
		switch v := any(v).(type) {
		case float32:
			x = v
		case rt.Float16:
			x = v.Float32()
		case rt.BFloat16:
			x = v.Float32()
		}
		switch to := any(&dst[i]).(type) {
		case *float32:
			*to = x
		case *rt.Float16:
			*to = rt.ToFloat16(x)
		case *rt.BFloat16:
			*to = rt.ToBFloat16(x)
		}
	}
}

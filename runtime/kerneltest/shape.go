package kerneltest

import "context"

// These structs have the fields of the shapes of package cpu, which documents them. The tests of a
// target convert them to the target's shapes.

// MatMulShape is the shape of a product with a matrix in panels of 16 columns. The fields mean the
// same as in package cpu.
type MatMulShape struct {
	M, N, K                   int
	LDA                       int
	LDC                       int
	Batch                     int
	StrideA, StrideB, StrideC int
	LDB                       int
	RowBias                   bool
	Terms                     int
	Ctx                       context.Context
}

// ConvShape is the shape of a convolution of a blocked or planar input. The fields mean the same as
// in package cpu.
type ConvShape struct {
	N, InC, InH, InW int
	InBlock          int
	OutC, OutH, OutW int
	KH, KW           int
	StrideH, StrideW int
	DilH, DilW       int
	PadH, PadW       int
	Group            int
	Terms            int
	Ctx              context.Context
}

// WinogradShape is the shape of a convolution by the Winograd algorithm. The fields mean the same
// as in package cpu.
type WinogradShape struct {
	N, InC, InH, InW int
	OutC, OutH, OutW int
	Top, Left        int
	Group            int
	Tile             int
	Ctx              context.Context
}

// PoolShape is the shape of a pool. The fields mean the same as in package cpu.
type PoolShape struct {
	N, C             int
	InH, InW         int
	OutH, OutW       int
	KH, KW           int
	StrideH, StrideW int
	DilH, DilW       int
	PadH, PadW       int
	EndH, EndW       int
	Block            int
	CountPad         bool
	Ctx              context.Context
}

// AttentionShape is the shape of an attention. The fields mean the same as in package cpu.
type AttentionShape struct {
	Batch, Heads  int
	Shared        int
	Queries, Keys int
	Depth, Width  int
	Q, K, V, Y    [4]int
	Scale         float32
	Softcap       float32
	Past          int
	Before, After int
	Mask          [4]int
	Ctx           context.Context
}

// AttentionMask says which keys queries attend to. The fields mean the same as in package cpu.
type AttentionMask struct {
	Lengths []int64
	Starts  []int64
	Sinks   []float32
	Add     []float32
	Allow   []bool
}

// SGDRates are the coefficients of stochastic gradient descent. The fields mean the same as in
// package cpu.
type SGDRates struct {
	Decay          float32
	Rate           float32
	Momentum, Keep float32
	Direct, Heavy  float32
}

// AdamRates are the coefficients of Adam. The fields mean the same as in package cpu.
type AdamRates struct {
	Decay        float32
	Shrink       float32
	Against      float32
	Beta1, Rest1 float32
	Beta2, Rest2 float32
	Scale        float32
	Epsilon      float32
	Rate         float32
}

// AdaGradRates are the coefficients of AdaGrad. The fields mean the same as in package cpu.
type AdaGradRates struct {
	Decay   float32
	Epsilon float32
	Rate    float32
}

// RMSPropRates are the coefficients of RMSProp. The fields mean the same as in package cpu.
type RMSPropRates struct {
	Decay       float32
	Alpha, Rest float32
	Momentum    float32
	Epsilon     float32
	Rate        float32
}

// AdanRates are the coefficients of Adan. The fields mean the same as in package cpu.
type AdanRates struct {
	Beta1, Rest1   float32
	Beta2, Rest2   float32
	Beta3, Rest3   float32
	Scale          float32
	Epsilon        float32
	Rate           float32
	DifferenceRate float32
	Before, After  float32
}

// LionRates are the coefficients of Lion. The fields mean the same as in package cpu.
type LionRates struct {
	Shrink       float32
	Beta1, Rest1 float32
	Beta2, Rest2 float32
	Rate         float32
}

// Epilogue is applied to the results of a product or a convolution. It first adds a bias for each
// column or channel, and then a residual. Then it clamps the sum to the limits Lo and Hi. Last it
// calls Then.
type Epilogue struct {
	Bias, Residual []float32
	Clamp          bool
	Lo, Hi         float32
	Then           func(t []float32, at int, in *[2][]float32)
	In             [2][]float32
}

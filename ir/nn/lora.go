package nn

// LoRA is a linear layer that is not trained, with a trained update of low rank: x·Wᵀ + b + scale·(x·Aᵀ)·Bᵀ (Hu
// and others, LoRA, 2021). The parameters have the names of the library PEFT: base_layer.weight, base_layer.bias,
// lora_A.weight [rank, in] and lora_B.weight [out, rank].
type LoRA struct {
	Base  Linear `nn:"base_layer"`
	A     Param  `nn:"lora_A.weight"`
	B     Param  `nn:"lora_B.weight"`
	scale float64
}

// NewLoRA freezes a linear layer and adds an update of this rank, scaled by alpha/rank. A is initialised
// as [NewLinear] does, and B is 0, so that the update is 0 at first.
func NewLoRA(base Linear, rank int, alpha float64) LoRA {
	required(base)
	shape := base.Weight.Shape()
	if rank < 1 || rank > min(shape[0], shape[1]) {
		fail("rank %d of a weight [%d,%d]", rank, shape[0], shape[1])
	}
	return LoRA{
		Base: Freeze(base), scale: alpha / float64(rank),
		A: NewParam(fanIn(shape[1]), rank, shape[1]), B: NewParam(Constant(0), shape[0], rank),
	}
}

func (l LoRA) check() error { return made(l.A, "NewLoRA") }

// Forward applies the layer to x, […, in]. The result is […, out]. It never makes a matrix of the size of the
// weight, so that training takes little memory.
func (l LoRA) Forward(x Value) Value {
	required(l)
	update := x.MatMul(l.A.Value().T()).MatMul(l.B.Value().T())
	return l.Base.Forward(x).Add(update.Mul(l.scale))
}

// Merged applies the layer to x as a single product with W + scale·B·A. A package computes this sum when it
// loads its weights, so that inference takes no longer than without the update.
func (l LoRA) Merged(x Value) Value {
	required(l)
	weight := l.Base.Weight.Value().Add(l.B.Value().MatMul(l.A.Value()).Mul(l.scale))
	y := x.MatMul(weight.T())
	if l.Base.Bias.Valid() {
		y = y.Add(l.Base.Bias.Value())
	}
	return y
}

package nn

// LoRA is a linear layer with frozen weights and a trained update of low rank: x·Wᵀ + b + scale·(x·Aᵀ)·Bᵀ (Hu and
// others, LoRA, 2021). The parameters have the names that the library PEFT uses: base_layer.weight,
// base_layer.bias, lora_A.weight [rank, in] and lora_B.weight [out, rank].
type LoRA struct {
	Base  Linear `nn:"base_layer"`
	A     Param  `nn:"lora_A.weight"`
	B     Param  `nn:"lora_B.weight"`
	scale float64
}

// NewLoRA freezes the linear layer base and adds an update of rank `rank`, scaled by alpha/rank. A is initialised as
// [NewLinear] does. B is 0, so the update is 0 at first.
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

// Forward applies the layer to x, […, in]. The result is […, out]. Training takes little memory, because Forward
// never computes the product B·A, which has the size of the weight.
func (l LoRA) Forward(x Value) Value {
	required(l)
	update := x.MatMul(l.A.Value().T()).MatMul(l.B.Value().T())
	return l.Base.Forward(x).Add(update.Mul(l.scale))
}

// Merged applies the layer to x as a single product with W + scale·B·A. A package computes this sum when it loads
// its weights. So inference takes as long as without the update.
func (l LoRA) Merged(x Value) Value {
	required(l)
	weight := l.Base.Weight.Value().Add(l.B.Value().MatMul(l.A.Value()).Mul(l.scale))
	y := x.MatMul(weight.T())
	if l.Base.Bias.Valid() {
		y = y.Add(l.Base.Bias.Value())
	}
	return y
}

package nn

// GateController computes the operand of a gate's activation: input·Wᵀ + b + hidden·Uᵀ + c. W and b are the weight
// and the bias of InputTransform, and U and c are the weight and the bias of HiddenTransform. Users can build their
// own recurrent cells from it.
type GateController struct{ InputTransform, HiddenTransform Linear }

// NewGateController returns a gate for inputs of `in` features and states of `hidden` features. Its results have
// `hidden` features, too.
func NewGateController(in, hidden int, options ...LinearOption) GateController {
	return GateController{NewLinear(in, hidden, options...), NewLinear(hidden, hidden, options...)}
}

// Forward returns the operand of the gate's activation, […, hidden]. input is […, in], and hidden is […, hidden].
func (g GateController) Forward(input, hidden Value) Value {
	return g.InputTransform.Forward(input).Add(g.HiddenTransform.Forward(hidden))
}

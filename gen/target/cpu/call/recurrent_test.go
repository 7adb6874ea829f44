package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestFunctionsOfGates asserts that the functions of gates are passed in order, and that the
// scratch memory holds the projected operand of a step. That of a GRU holds a state as well.
func TestFunctionsOfGates(t *testing.T) {
	checkCalls(t, []called{
		{
			op.RNNSteps{Steps: op.Steps{Reverse: true, Clip: 3, Activations: []string{"sigmoid"}, Alphas: []float64{1}, Betas: []float64{4}}},
			[]any{"f32[7,N,4]", "f32[4,4]"},
			"RNN({} y0 y1 a b nil nil scratch:f32[4*N] 7 N 4 true f64:3 sigmoid f64:1 f64:4)",
		},
		{
			op.GRUSteps{Steps: op.Steps{Reverse: true, Clip: 3, Activations: []string{"sigmoid", "tanh"}, Alphas: []float64{1, 2}, Betas: []float64{4, 5}}},
			[]any{"f32[7,N,12]", "f32[4,8]", "f32[4,4]"},
			"GRU({} y0 y1 a b c nil nil nil scratch:f32[12*N] scratch:f32[4*N] 7 N 4 true false f64:3 sigmoid f64:1 f64:4 tanh f64:2 f64:5)",
		},
		{
			op.LSTMSteps{Steps: op.Steps{Reverse: true, Clip: 3, Activations: []string{"sigmoid", "tanh", "affine"}, Alphas: []float64{1, 2, 3}, Betas: []float64{4, 5, 6}}},
			[]any{"f32[7,N,16]", "f32[4,16]"},
			"LSTM({} y0 y1 y2 a b nil nil nil nil scratch:f32[16*N] 7 N 4 true false f64:3 sigmoid f64:1 f64:4 tanh f64:2 f64:5 affine f64:3 f64:6)",
		},
	})
}

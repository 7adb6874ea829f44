// Package encoder describes stacks of transformer encoder layers on embedded tokens: MiniLM, BERT-base and single layers.
package encoder

import "github.com/burngen/burngen/ir/nn"

// Config configures an Encoder.
//
//burngen:config
type Config struct {
	Tokens, Width, Heads, Layers int
	// Causal layers attend to earlier tokens only, and normalise their inputs.
	Causal bool
}

// Encoder is a stack of layers.
type Encoder struct {
	Layers nn.TransformerEncoder
	Config
}

// New returns an encoder with random weights.
func New(c Config) *Encoder {
	options := []nn.TransformerOption{nn.FeedForward(4 * c.Width), nn.WithActivation(nn.GELU), nn.DropoutRate(0)}
	if c.Causal {
		options = append(options, nn.NormFirst)
	}
	return &Encoder{Layers: nn.NewTransformerEncoder(c.Width, c.Heads, c.Layers, options...), Config: c}
}

// Forward returns the last layer's activations [N,Tokens,Width] of x [N,Tokens,Width].
//
//burngen:func (f32[N,{m.Tokens},{m.Width}]) -> f32[N,{m.Tokens},{m.Width}]
func (m *Encoder) Forward(x nn.Value) nn.Value {
	if m.Causal {
		return m.Layers.Forward(x, nn.CausalMask(m.Tokens))
	}
	return m.Layers.Forward(x, nn.Value{})
}

// Loss returns the mean squared distance of the activations from y.
//
//burngen:loss (f32[N,{m.Tokens},{m.Width}], f32[N,{m.Tokens},{m.Width}]) -> f32[]
func (m *Encoder) Loss(x, y nn.Value) nn.Value { return nn.MSE(m.Forward(x), y) }

// Package model describes a small transformer that continues a text.
package model

import "github.com/burngen/burngen/ir/nn"

// Config configures a GPT.
//
//burngen:config
type Config struct {
	Vocabulary int     `default:"256"` // a token is a byte
	Context    int     `default:"64"`
	Width      int     `default:"64"`
	Heads      int     `default:"4"`
	Blocks     int     `default:"2"`
	Dropout    float64 `default:"0.1"`
}

// GPT is a decoder-only transformer (Radford and others, 2018) with pre-normalisation.
type GPT struct {
	Tokens nn.Embedding
	Places nn.Param
	Drop   nn.Dropout
	Blocks nn.TransformerEncoder `nn:"."`
	Norm   nn.LayerNorm
	Head   nn.Linear
	Config
}

// New returns a transformer.
func New(c Config) *GPT {
	m := &GPT{
		Tokens: nn.NewEmbedding(c.Vocabulary, c.Width, nn.WeightInit(nn.NormalInit(0, 0.02))),
		Places: nn.NewParam(nn.NormalInit(0, 0.02), c.Context, c.Width),
		Drop:   nn.NewDropout(c.Dropout),
		Blocks: nn.NewTransformerEncoder(c.Width, c.Heads, c.Blocks, nn.FeedForward(4*c.Width),
			nn.NormFirst, nn.WithActivation(nn.GELU), nn.DropoutRate(c.Dropout)),
		Norm:   nn.NewLayerNorm(c.Width),
		Head:   nn.NewLinear(c.Width, c.Vocabulary, nn.NoBias),
		Config: c,
	}
	m.Head.Weight = m.Tokens.Weight.Tied()
	return m
}

// Forward maps tokens to the logits of the next token at each position.
//
//burngen:func (i64[N,{m.Context}]) -> f32[N,{m.Context},{m.Vocabulary}]
func (m *GPT) Forward(tokens nn.Value) (logits nn.Value) {
	x := m.Drop.Forward(m.Tokens.Forward(tokens).Add(m.Places.Value()))
	x = m.Blocks.Forward(x, nn.CausalMask(m.Context))
	return m.Head.Forward(m.Norm.Forward(x))
}

// Loss returns the cross entropy. next holds the next token at each position.
//
//burngen:loss (i64[N,{m.Context}], i64[N,{m.Context}]) -> f32[]
func (m *GPT) Loss(tokens, next nn.Value) nn.Value {
	return nn.CrossEntropy(m.Forward(tokens).Flatten(0, 1), next.Flatten(0, -1))
}

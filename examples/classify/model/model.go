// Package model describes the network that the example trains: the mean of the embeddings of a text's tokens,
// and two linear layers.
package model

import "github.com/burngen/burngen/ir/nn"

// Config configures a Net.
//
//burngen:config
type Config struct {
	Classes  int
	Tokens   int // of the tokenizer; token 0 is padding
	Length   int // tokens of a text
	Features int
}

// Net classifies texts.
type Net struct {
	Embed           nn.Embedding
	Hidden, Output  nn.Linear
	length, classes int
}

// New returns a network.
func New(c Config) *Net {
	return &Net{
		Embed: nn.NewEmbedding(c.Tokens, c.Features), Hidden: nn.NewLinear(c.Features, c.Features),
		Output: nn.NewLinear(c.Features, c.Classes), length: c.Length, classes: c.Classes,
	}
}

// Forward maps the token ids of texts to logits. Padding does not count.
//
//burngen:func (i64[N,{m.length}]) -> f32[N,{m.classes}]
func (m *Net) Forward(text nn.Value) (logits nn.Value) {
	words := text.NotEqual(0).Float().Unsqueeze(2)
	mean := m.Embed.Forward(text).Mul(words).Sum(1).Div(words.Sum(1).Add(1e-6)).Squeeze(1)
	return m.Output.Forward(nn.ReLU(m.Hidden.Forward(mean)))
}

// Loss returns the cross entropy and the logits. Metrics measure the logits.
//
//burngen:loss (i64[N,{m.length}], i64[N]) -> (f32[], f32[N,{m.classes}])
func (m *Net) Loss(text, topic nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(text)
	return nn.CrossEntropy(logits, topic), logits
}

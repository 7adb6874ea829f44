package metric

// Tokens is an output of a language model, which predicts each token of sequences. It has the
// fields of [Classes]. The items are tokens. Scores has the shape [sequences, length, vocabulary], and
// Targets [sequences, length]. Targets in Ignore are padding.
type Tokens Classes

// Lost returns the loss and the number of tokens that are not ignored.
func (t Tokens) Lost() (float64, int) { return Classes(t).Lost() }

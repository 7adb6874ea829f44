// Package keys matches the names of tensors in a weights file with the names in a model.
//
// It knows names: rules that rewrite them, keys above them, indices in them, and similarity. It
// does not know models or files: the tensors that a model wants are a list of [Want], the tensors
// of the file are [rt.Weights].
package keys

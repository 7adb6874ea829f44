// Package keys matches the names of tensors in a weights file with the names in a model.
//
// It knows how names are compared and changed: rules that rewrite them, prefixes such as
// "model.", indices in them, and their similarity. It does not know models or files. The tensors
// that a model wants are a list of [Want], and the tensors of the file are [rt.Weights].
package keys

// Package keys matches the names of weights in a file with those of a model.
//
// It knows names: rules that rewrite them, keys above them, indices in them, and
// which are alike. It does not know models or files: what a model wants comes as a
// list of [Want], what there is as [rt.Weights].
package keys

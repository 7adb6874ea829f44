// Package ir is the intermediate representation: typed SSA functions of operators over tensors
// whose extents may be symbolic. It prints, parses, verifies, evaluates and rewrites them. It does
// not know any particular operator (package op), file format, pass or target.
package ir

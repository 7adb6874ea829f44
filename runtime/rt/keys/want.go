package keys

import (
	"errors"

	"github.com/burngen/burngen/runtime/rt"
)

// Want describes a tensor that a model wants.
type Want struct {
	Name  string
	DType string // as [rt.DTypeOf] spells it
	Shape []int  // empty for a scalar

	// Aliases are further names of a parameter that is used in several places. A file may have the
	// parameter under any of these names. It may have the parameter under several names if the
	// elements are equal.
	Aliases []string
	// Layout gives the meaning of the axes if the tensor is the matrix of a product, else "".
	Layout Layout
	// Optional marks a tensor that a file may lack because it is not a parameter, such as a mask or
	// a table of positions. The model's own tensor is used then.
	Optional bool
}

// Layout is the order of the axes of a matrix W in a product with x, a matrix of rows.
type Layout string

// The layouts of a matrix.
const (
	InOut Layout = "in,out" // x·W
	OutIn Layout = "out,in" // x·Wᵀ, as in PyTorch's Linear
)

// String returns the type and shape as text, such as "f32[8,1,3,3]".
func (w Want) String() string { return rt.Info{DType: w.DType, Shape: w.Shape}.String() }

// Option configures how the tensors of a file become the tensors of a model.
type Option func(*Options) error

// Options is the configuration that each [Option] modifies.
type Options struct {
	Map
	Fit
}

// TopKey selects the tensors below a key, such as "model_state_dict" or "state.model", and removes
// the key from their names.
func TopKey(key string) Option {
	return func(o *Options) error { o.Top = key; return nil }
}

// Remap rewrites names by a rule "regex=>replacement", see [ParseRule]. Several rules apply one
// after the other.
func Remap(rule string) Option {
	return func(o *Options) error {
		r, err := ParseRule(rule)
		o.Rules = append(o.Rules, r)
		return err
	}
}

// Renumber closes gaps in indices: "fc.0", "fc.2" and "fc.4" become "fc.0", "fc.1" and "fc.2".
func Renumber() Option {
	return func(o *Options) error { o.Map.Renumber = true; return nil }
}

// Transpose transposes the matrices whose rewritten names match a regular expression. With this
// option, no other matrices are transposed, whatever their shapes.
func Transpose(pattern string) Option {
	return func(o *Options) error {
		re, err := ParsePattern(pattern)
		o.Map.Transpose = append(o.Map.Transpose, re)
		return err
	}
}

// AllowMissing uses the model's own tensors in place of tensors that a file lacks.
func AllowMissing() Option {
	return func(o *Options) error { o.Fit.AllowMissing = true; return nil }
}

// AllowUnused ignores tensors that the model does not want.
func AllowUnused() Option {
	return func(o *Options) error { o.Fit.AllowUnused = true; return nil }
}

// NewOptions returns the configuration that the options set. It ignores nil options. It returns one
// error that lists all invalid rules and patterns.
func NewOptions(options ...Option) (*Options, error) {
	o := &Options{}
	var errs []error
	for _, option := range options {
		if option != nil {
			errs = append(errs, option(o))
		}
	}
	return o, errors.Join(errs...)
}

// Load returns the tensors that a model wants, with the wanted names, types and layouts. It takes
// them from raw. If raw lacks a tensor and [Fit.Match] accepts this, Load takes the tensor from the result of the
// function `own`, which may be nil. Tensors stay in place if possible. The caller may close raw before the result,
// and need not close the result, because Load calls [rt.Weights.Abandon] on it. Load returns the errors of the
// options, of [Map.Apply] and of [Fit.Match].
func Load(raw *rt.Weights, own func() *rt.Weights, wanted []Want, options ...Option) (*rt.Weights, error) {
	o, err := NewOptions(options...)
	if err != nil {
		return nil, err
	}
	fitted, err := o.Load(raw, own, wanted)
	if err != nil {
		return nil, err
	}
	fitted.Abandon()
	return fitted.Weights, nil
}

// Load is like the function [Load], with two differences. The result also says how the tensors were
// obtained, and Load does not call [rt.Weights.Abandon] on the result.
func (o *Options) Load(raw *rt.Weights, own func() *rt.Weights, wanted []Want) (*Fitted, error) {
	if o.Map.IsZero() {
		return o.Match(raw, own, wanted)
	}
	renamed, err := o.Map.renamed(raw)
	if err != nil {
		return nil, err
	}
	defer renamed.Close()
	fit := o.Fit
	fit.AsIs = fit.AsIs || len(o.Map.Transpose) > 0
	return fit.Match(renamed, own, wanted)
}

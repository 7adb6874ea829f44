package keys

import (
	"errors"

	"github.com/burngen/burngen/runtime/rt"
)

// Want is a tensor that a model wants.
type Want struct {
	Name  string
	DType string // as [rt.DTypeOf] spells it
	Shape []int  // empty for a scalar

	// Aliases are further names, of a parameter that stands in several places: a file may
	// have it under any of them, and under several if the elements are the same.
	Aliases []string
	// Layout is what the axes of the matrix of a product are; "" for other tensors.
	Layout Layout
	// Optional tells that a file need not have it: it is no parameter, but a mask, a table
	// of positions or the like, and then the model's own.
	Optional bool
}

// Layout is what the two axes of a matrix W are in a product with rows x.
type Layout string

// The layouts.
const (
	InOut Layout = "in,out" // x·W
	OutIn Layout = "out,in" // x·Wᵀ, as PyTorch's Linear has it
)

// String returns "f32[8,1,3,3]".
func (w Want) String() string { return rt.Info{DType: w.DType, Shape: w.Shape}.String() }

// Option says how the tensors of a file become those of a model.
type Option func(*Options) error

// Options are what every [Option] adds to.
type Options struct {
	Map
	Fit
}

// TopKey takes the tensors below a key only, without it: "model_state_dict" or
// "state.model".
func TopKey(key string) Option {
	return func(o *Options) error { o.Top = key; return nil }
}

// Remap rewrites names by a rule "regex=>replacement", as [ParseRule] reads it. Several
// rules apply one after the other.
func Remap(rule string) Option {
	return func(o *Options) error {
		r, err := ParseRule(rule)
		o.Rules = append(o.Rules, r)
		return err
	}
}

// Renumber closes the gaps in indices: the tensors of "fc.0", "fc.2" and "fc.4" are
// called "fc.0", "fc.1" and "fc.2".
func Renumber() Option {
	return func(o *Options) error { o.Map.Renumber = true; return nil }
}

// Transpose transposes the matrices whose names, as they have become, match a regular
// expression, and no others: see [Fit.Match].
func Transpose(pattern string) Option {
	return func(o *Options) error {
		re, err := ParsePattern(pattern)
		o.Map.Transpose = append(o.Map.Transpose, re)
		return err
	}
}

// AllowMissing takes the model's own tensors where a file has none.
func AllowMissing() Option {
	return func(o *Options) error { o.Fit.AllowMissing = true; return nil }
}

// AllowUnused passes over tensors that the model does not want.
func AllowUnused() Option {
	return func(o *Options) error { o.Fit.AllowUnused = true; return nil }
}

// NewOptions returns what options add up to; nil ones add nothing. Errors, all at once:
// rules and patterns that are none.
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

// Load returns the tensors that a model wants out of raw, under the names, with the types
// and in the layouts it wants. What raw lacks and need not have is taken from what own
// returns; own may be nil. The tensors stay where they are as far as that is possible; raw
// may be closed before the result is. That need not be: it is abandoned, as
// [rt.Weights.Abandon] says. Errors are those of the options and of [Fit.Match].
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

// Load is the function [Load] that also tells what it has done.
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

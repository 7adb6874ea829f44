package rt

import (
	"fmt"
	"runtime/debug"
)

// Call is one call of a custom operator. The function named in -custom is a func(*Call) error. The
// Call that it receives is valid until it returns.
//
// A mistake, such as reading a float32 operand as float64, does not panic. The accessor returns nil,
// 0 or the caller's default, and Err returns the first mistake. If the function returns nil, the
// model's method returns this error.
type Call struct {
	// In are the operands and Out the results, in the order of the operator's declared type. The
	// function reads operands and writes results, and must not retain either.
	In, Out []*Arg
	// Attrs are the node's attributes.
	Attrs Attrs

	name    string
	in, out []*Arg
	attrs   []Attr
	symbols Symbols
	running bool
	err     error // the first mistake
}

// NewCall returns the Call of one node, for generated code and for tests of custom operators. `name`
// begins the messages of its errors. `in` and `out` are the numbers of operands and results.
// `symbols` are the names of the extents that the function decides. Pass arguments with [CallIn],
// [CallOut] and [CallOpen], and then call Run.
func NewCall(name string, in, out int, symbols []string, attrs ...Attr) *Call {
	c := &Call{name: name, attrs: attrs, symbols: NewSymbols(symbols...)}
	c.Attrs = Attrs{c}
	for i := range in {
		c.in = append(c.in, &Arg{call: c, where: fmt.Sprintf("%s: operand %d", name, i)})
	}
	for i := range out {
		c.out = append(c.out, &Arg{call: c, where: fmt.Sprintf("%s: result %d", name, i), isResult: true})
	}
	return c
}

// WantAttr is the attribute that tells a gradient function which of its results are wanted: a list
// with 1 or 0 for each. Without the attribute all results are wanted. [Call.Wants] reads it.
const WantAttr = "want_gradients"

// Wants reports whether anything reads result i. It returns false if there is no result i. A
// function that computes gradients need not write the results for which Wants returns false.
func (c *Call) Wants(i int) bool {
	if i < 0 || i >= len(c.out) {
		return false
	}
	for _, a := range c.attrs {
		if mask, ok := a.Value.([]int64); ok && a.Name == WantAttr && i < len(mask) {
			return mask[i] != 0
		}
	}
	return true
}

// Err returns the first mistake that the function made, or nil.
func (c *Call) Err() error { return c.err }

func (c *Call) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// Run calls f with the operands and results that were passed. If one is missing or not a valid
// tensor, Run returns an error and does not call f. After f it returns the first of these errors
// that exists: f's error; the first mistake, see [Call]; an error if a result does not have the
// declared shape. If f panics, Run returns the first mistake, or a [PanicError] if there was no
// mistake.
func (c *Call) Run(f func(*Call) error) (err error) {
	c.In, c.Out, c.Attrs = c.in, c.out, Attrs{c}
	c.running, c.err = true, nil
	defer c.end(&err)
	for _, args := range [][]*Arg{c.in, c.out} {
		for _, a := range args {
			if err := a.usable(); err != nil {
				return fmt.Errorf("%s: %w", a.where, err)
			}
		}
	}
	if err := f(c); err != nil {
		return err
	}
	if c.err != nil {
		return c.err
	}
	return c.check()
}

// end recovers a panic. It then sets *err to c.err, or to a [PanicError] if c.err is nil. end also
// drops the references to the slices of [CallIn] and [CallOut].
func (c *Call) end(err *error) {
	if r := recover(); r != nil {
		if *err = c.err; c.err == nil {
			*err = fmt.Errorf("%s: %w", c.name, &PanicError{r, debug.Stack()})
		}
	}
	c.running = false
	for _, args := range [][]*Arg{c.in, c.out} {
		for _, a := range args {
			if a.tensor != nil {
				a.tensor.leave()
			}
		}
	}
}

// check returns an error if a result with a declared shape was not resized or has another shape. It
// also returns an error if the length of the data does not match the shape.
func (c *Call) check() error {
	c.symbols.Reset()
	for _, a := range c.out {
		if a.want == nil {
			continue
		}
		if !a.sized {
			return fmt.Errorf("%s: it has no shape: Resize gives it", a.where)
		}
		if err := c.symbols.CheckShape(a.where, a.tensor.shape(), a.want...); err != nil {
			return err
		}
		if err := a.tensor.check(); err != nil {
			return fmt.Errorf("%s: %w", a.where, err)
		}
	}
	return nil
}

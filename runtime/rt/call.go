package rt

import (
	"fmt"
	"runtime/debug"
)

// Call is one call of a custom operator, which the function that computes it is
// given: what -custom names is a func(*Call) error. It holds until the function
// returns.
//
// A mistake, such as operand 0 taken for float64 when it is float32, does not panic:
// what is asked for is empty, and Err, and the model's Forward, return the first one.
type Call struct {
	// In are the operands and Out the results, as the operator's declared type has
	// them. A function reads the data of operands, writes that of results, and keeps
	// neither.
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

// NewCall returns the calls of one node. Symbols are the extents that the function
// decides. It serves generated code, and tests of functions: what is passed then comes
// from [CallIn], [CallOut] and [CallOpen], and Run makes the call.
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

// Err returns the first mistake that the function made with what it was given, nil if
// there was none.
func (c *Call) Err() error { return c.err }

func (c *Call) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// Run calls the function on what was passed. It returns the function's error; else the
// first mistake; else why results are not of the shapes that were declared. A panic of
// the function is an error.
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

// end lets go of the caller's memory.
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

// check compares the shapes that the function decided with those declared.
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

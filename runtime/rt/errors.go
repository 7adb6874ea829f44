package rt

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrBusy is what a session returns when it is called while it runs.
var ErrBusy = errors.New("session is running: open one per goroutine")

// ErrNoModel is what the methods of a nil or zero Model return.
var ErrNoModel = errors.New("model has no weights: it is not from Load, LoadFrom or New")

// ErrNoSession is what the methods of a nil or zero Session return.
var ErrNoSession = errors.New("session has no model: it is not from NewSession")

// ErrNoTrainer is what the methods of a nil or zero Trainer return.
var ErrNoTrainer = errors.New("trainer has no model: it is not from NewTrainer")

// ErrClosed is what reading weights returns after their file was closed.
var ErrClosed = errors.New("weights are closed")

// NodeError is an error of one node of the model.
type NodeError struct {
	Node string // as the model's file names it
	Err  error
}

// Error returns `node "NAME": ERROR`.
func (e *NodeError) Error() string { return fmt.Sprintf("node %q: %v", e.Node, e.Err) }

// Unwrap returns e.Err.
func (e *NodeError) Unwrap() error { return e.Err }

// At returns err as an error of a node, nil if err is nil.
func At(node string, err error) error {
	if err == nil {
		return nil
	}
	return &NodeError{node, err}
}

// PanicError is a panic that became an error: a defect of burngen or of a custom
// operator, never the right answer to an argument.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine that panicked
}

// Error returns "panic: VALUE", without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recover is deferred by generated functions: a panic becomes their error, as
// "where: panic: …", or "where: …" where arguments are too small for the model. The end of
// a context, see [EndIfDone], becomes its cause.
func Recover(where string, err *error) {
	switch r := recover().(type) {
	case nil:
	case ended:
		*err = r.error
	case tooSmall:
		*err = fmt.Errorf("%s: %w", where, r)
	default:
		*err = fmt.Errorf("%s: %w", where, &PanicError{r, debug.Stack()})
	}
}

// tooSmall is what [View] panics with for a negative number of elements: an extent that
// the model computes from those of its arguments is below zero.
type tooSmall int

// Error names the number.
func (n tooSmall) Error() string {
	return fmt.Sprintf("the arguments are too small: a value on the way would have %d elements", int(n))
}

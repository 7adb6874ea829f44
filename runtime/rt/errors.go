package rt

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrBusy is returned by a call of a session or trainer while another of its calls runs.
var ErrBusy = errors.New("session is running: open one per goroutine")

// ErrNoModel is returned by the methods of a nil or zero Model.
var ErrNoModel = errors.New("model has no weights: it is not from Load, LoadFrom or New")

// ErrNoSession is returned by the methods of a nil or zero Session.
var ErrNoSession = errors.New("session has no model: it is not from NewSession")

// ErrNoTrainer is returned by the methods of a nil or zero Trainer.
var ErrNoTrainer = errors.New("trainer has no model: it is not from NewTrainer")

// ErrClosed is returned by reads of weights whose file was closed.
var ErrClosed = errors.New("weights are closed")

// NodeError is an error of one node of the model.
type NodeError struct {
	Node string // name of the node in the model's file
	Err  error
}

// Error returns `node "NAME": ERROR`.
func (e *NodeError) Error() string { return fmt.Sprintf("node %q: %v", e.Node, e.Err) }

// Unwrap returns e.Err.
func (e *NodeError) Unwrap() error { return e.Err }

// At wraps err as a [NodeError] of node. It returns nil if err is nil.
func At(node string, err error) error {
	if err == nil {
		return nil
	}
	return &NodeError{node, err}
}

// PanicError is a panic that became an error. It always means a defect of burngen or of a custom
// operator, never a bad argument.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the stack of the goroutine that panicked
}

// Error returns "panic: VALUE", without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value that was passed to panic if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recover turns a panic into *err. Generated functions defer it. The error reads "where: panic: …",
// or "where: …" if arguments are too small for the model. After a panic of [EndIfDone], *err is the
// cause of the context's end.
func Recover(where string, err *error) {
	if r := recover(); r != nil {
		*err = recovered(where, r)
	}
}

func recovered(where string, r any) error {
	switch r := r.(type) {
	case ended:
		return r.error
	case tooSmall:
		return fmt.Errorf("%s: %w", where, r)
	}
	return fmt.Errorf("%s: %w", where, &PanicError{r, debug.Stack()})
}

// tooSmall is the panic value of [View] for a negative number of elements. The model computes the
// number from the extents of its arguments; a negative number means that an argument is too small.
type tooSmall int

// Error returns a message with the number of elements.
func (n tooSmall) Error() string {
	return fmt.Sprintf("the arguments are too small: a value on the way would have %d elements", int(n))
}

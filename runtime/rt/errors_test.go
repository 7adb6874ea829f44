package rt

import (
	"errors"
	"fmt"
	"testing"
)

func TestAt(t *testing.T) {
	cause := errors.New("gather: index 7 out of range [0,5)")
	err := At("/gather/Gather", cause)
	wantError(t, err, `node "/gather/Gather": gather: index 7 out of range [0,5)`)
	var node *NodeError
	if !errors.Is(err, cause) || !errors.As(err, &node) || node.Node != "/gather/Gather" {
		t.Error("not a NodeError of its cause")
	}
	if At("x", nil) != nil {
		t.Error("an error of no error")
	}
}

func TestRecover(t *testing.T) {
	forward := func(f func() error) (err error) {
		defer Recover("digits: Forward", &err)
		return f()
	}
	var none []int
	err := forward(func() error { return fmt.Errorf("%d", none[5]) })
	wantError(t, err, "digits: Forward: panic: runtime error: index out of range [5] with length 0")
	var p *PanicError
	if !errors.As(err, &p) || len(p.Stack) == 0 {
		t.Error("no PanicError with a stack")
	}
	cause := errors.New("cause")
	if err := forward(func() error { panic(cause) }); !errors.Is(err, cause) {
		t.Errorf("%v is not its cause", err)
	}
	wantError(t, forward(func() error { panic("text") }), "digits: Forward: panic: text")
	small := forward(func() error { View[float32](make([]byte, 64), 0, -3); return nil })
	wantError(t, small, "digits: Forward: the arguments are too small: a value on the way would have -3 elements")
	if err := forward(func() error { return cause }); err != cause {
		t.Errorf("an ordinary error became %v", err)
	}
	wantError(t, forward(func() error { return nil }), "")
}

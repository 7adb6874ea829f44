package dim

import (
	"fmt"
	"slices"
)

// Eval returns the value of d. The function `value` returns the value of a symbol, and false if the symbol has no
// value. Eval returns an error for a symbol without a value, for a division by zero, for an overflow of int64 in
// any step, and for a poisoned d.
func (d Dim) Eval(value func(sym string) (int64, bool)) (int64, error) {
	if d.p == nil {
		return d.c, nil
	}
	e := evaluation{value: value}
	n, err := Fold(d, &e)
	if err == nil {
		err = e.err
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// evaluation is the [Algebra] of [Dim.Eval]: it computes numbers, and keeps the first error.
type evaluation struct {
	value func(sym string) (int64, bool)
	err   error
}

func (e *evaluation) fail(err error) int64 {
	if e.err == nil {
		e.err = err
	}
	return 0
}

func (e *evaluation) checked(n int64, ok bool) int64 {
	if !ok {
		return e.fail(faults[overflow].err)
	}
	return n
}

func (e *evaluation) Sym(name string) int64 {
	n, ok := e.value(name)
	if !ok {
		return e.fail(fmt.Errorf("dim: symbol %s: no value", name))
	}
	return n
}

func (e *evaluation) FloorDiv(a, b int64) int64 {
	if b == 0 {
		return e.fail(faults[zeroDivisor].err)
	}
	return e.checked(floor64(a, b))
}

func (e *evaluation) Const(n int64) int64     { return n }
func (e *evaluation) Add(a, b int64) int64    { return e.checked(add64(a, b)) }
func (e *evaluation) Sub(a, b int64) int64    { return e.checked(sub64(a, b)) }
func (e *evaluation) Mul(a, b int64) int64    { return e.checked(mul64(a, b)) }
func (e *evaluation) Min(args ...int64) int64 { return slices.Min(args) }
func (e *evaluation) Max(args ...int64) int64 { return slices.Max(args) }

package absurd

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

func must[M any](m M, err error) M {
	if err != nil {
		panic(err)
	}
	return m
}

// call calls a model's ForwardContext with arguments in the order of its inputs.
func call(name string, ctx context.Context, args ...any) error {
	f := reflect.ValueOf(models[name]).MethodByName("ForwardContext")
	in := []reflect.Value{reflect.ValueOf(&ctx).Elem()}
	if t := f.Type().In(1); t.Kind() == reflect.Struct && t.NumField() == len(args) && t.Name() == "Inputs" {
		all := reflect.New(t).Elem()
		for i, a := range args {
			all.Field(i).Set(reflect.ValueOf(a))
		}
		in = append(in, all)
	} else {
		for i, a := range args {
			in = append(in, reflect.ValueOf(a).Convert(f.Type().In(1+i)))
		}
	}
	err, _ := f.Call(in)[1].Interface().(error)
	return err
}

func floats(shape []int, v ...float32) rt.Tensor[float32] {
	return rt.Tensor[float32]{Data: v, Shape: shape}
}

func ints(v ...int64) rt.Tensor[int64] { return rt.Tensor[int64]{Data: v, Shape: []int{len(v)}} }

func number(v int64) rt.Tensor[int64] { return rt.Tensor[int64]{Data: []int64{v}} }

// lateContext ends when it has been asked a number of times whether it has.
type lateContext struct {
	context.Context
	left int
}

func (c *lateContext) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestAbsurdArguments(t *testing.T) {
	// This many elements fit into memory once, but not twice.
	const once = 45 << 20
	x, one := floats([]int{4}, 1, 2, 3, 4), floats([]int{1}, 1)
	image := floats([]int{1, 1, 2, 2}, 1, 2, 3, 4)
	type test struct {
		name string
		good []any
		bad  [][]any
	}
	list := func(f func(n int64) []any, more ...int64) [][]any {
		var out [][]any
		for _, n := range append([]int64{once, 1 << 31, 1 << 32, 1 << 40, 1 << 62, math.MaxInt64}, more...) {
			out = append(out, f(n))
		}
		return out
	}
	for _, test := range []test{
		{"tile", []any{x, ints(3)}, list(func(n int64) []any { return []any{x, ints(n)} })},
		{"pad", []any{x, ints(1, 2)}, list(func(n int64) []any { return []any{x, ints(n, n)} }, math.MinInt64, -3)},
		{"edge", []any{x, ints(1, 2)}, list(func(n int64) []any { return []any{x, ints(n, n)} }, math.MinInt64, -3)},
		{"center", []any{x, ints(2)}, list(func(n int64) []any { return []any{x, ints(n)} }, -1)},
		{"expand", []any{one, ints(7)}, list(func(n int64) []any { return []any{one, ints(n)} }, -2)},
		{"constant", []any{ints(7)}, list(func(n int64) []any { return []any{ints(n)} }, -2)},
		{"square", []any{ints(2, 3)}, list(func(n int64) []any { return []any{ints(n, n)} }, -2)},
		{"steps", []any{number(5)}, list(func(n int64) []any { return []any{number(n)} })},
		{"hot", []any{number(5)}, list(func(n int64) []any { return []any{number(n)} }, -1)},
		{"sizes", []any{image, ints(1, 1, 3, 5)}, list(func(n int64) []any { return []any{image, ints(1, 1, n, n)} }, -1)},
		{"scales", []any{image, floats([]int{4}, 1, 1, 2, 2)}, list(func(n int64) []any { return []any{image, floats([]int{4}, 1, 1, float32(n), float32(n))} }, -1, 0)},
		{"rows", []any{x, number(5)}, [][]any{{x, number(1 << 40)}, {x, number(math.MaxInt64)}}},
		{"double", []any{x, number(5)}, [][]any{{x, number(1 << 40)}, {x, number(math.MaxInt64)}}},
		{"batch", []any{make([]float32, 2)}, [][]any{{make([]float32, 40)}, {make([]float32, 1<<20)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := call(test.name, nil, test.good...); err != nil {
				t.Fatalf("arguments that are right: %v", err)
			}
			for i, args := range test.bad {
				err := call(test.name, nil, args...)
				if err == nil {
					t.Errorf("arguments %d: no error", i)
					continue
				}
				if text := err.Error(); strings.Contains(text, "panic") || strings.Contains(text, "runtime error") {
					t.Errorf("arguments %d: %v", i, err)
				}
			}
			if err := call(test.name, nil, test.good...); err != nil {
				t.Errorf("the call after: %v", err)
			}
		})
	}
	if most := peak(); most > 1<<30 {
		t.Errorf("%d MiB of memory are in use", most>>20)
	}
}

// peak returns how many bytes Go has taken from the system.
func peak() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestEndlessLoopEndsWithItsContext(t *testing.T) {
	x, forever, thrice := &[4]float32{1, 2, 3, 4}, int64(math.MaxInt64), int64(3)
	err := call("endless", &lateContext{context.Background(), 1000}, x, &forever)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := call("endless", nil, x, &thrice); err != nil {
		t.Errorf("the call after: %v", err)
	}
}

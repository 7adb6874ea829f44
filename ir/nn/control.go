package nn

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// flatten returns the Values in s, which is a Value or a struct, array or slice that contains
// Values.
func flatten(s any) []Value {
	var out []Value
	visit(reflect.ValueOf(&s).Elem().Elem(), func(v Value) Value { out = append(out, v); return v }, false)
	return out
}

// rebuilt returns s with its Values replaced by values, in the order of [flatten].
func rebuilt[S any](s S, values []Value) S {
	out := reflect.New(reflect.TypeFor[S]()).Elem()
	out.Set(reflect.ValueOf(&s).Elem())
	visit(out, func(Value) Value { v := values[0]; values = values[1:]; return v }, true)
	return out.Interface().(S)
}

// visit calls f for each Value in v. If set is true, it replaces the Value by the result of f. It copies a slice
// before it replaces its elements, so that the caller's slice does not change.
func visit(v reflect.Value, f func(Value) Value, set bool) {
	switch {
	case v.Type() == valueType:
		w := f(v.Interface().(Value))
		if set {
			v.Set(reflect.ValueOf(w))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				fail("field %s.%s is unexported", v.Type(), v.Type().Field(i).Name)
			}
			visit(v.Field(i), f, set)
		}
	case v.Kind() == reflect.Array, v.Kind() == reflect.Slice:
		if set && v.Kind() == reflect.Slice {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			v.Set(c)
		}
		for i := range v.Len() {
			visit(v.Index(i), f, set)
		}
	default:
		fail("%s is not an nn.Value and has none", v.Type())
	}
}

var valueType = reflect.TypeFor[Value]()

// If returns the result of onTrue if condition is true, and the result of onFalse otherwise. condition is a bool of
// one element. A result is a Value or a struct of Values. Both functions must return the same element types and
// ranks. An extent that differs between the two results becomes a new symbol.
func If[S any](condition Value, onTrue, onFalse func() S) S {
	var made [2]S
	var bodies []*body
	for i, f := range []func() S{onTrue, onFalse} {
		bodies = append(bodies, newBody(nil, true, func() []Value {
			made[i] = f()
			return flatten(made[i])
		}))
	}
	a, b := bodies[0].results, bodies[1].results
	if len(a) != len(b) {
		fail("the branches make %d and %d values", len(a), len(b))
	}
	o := op.If{}
	for i := range a {
		t, u := a[i].typ(), b[i].typ()
		if t.DType != u.DType || t.Rank() != u.Rank() {
			fail("the branches make %s and %s", t, u)
		}
		for k := range t.Shape {
			if !t.Shape[k].Same(u.Shape[k]) {
				o.Extents = append(o.Extents, ir.ResultExtent{Symbol: symbol(fmt.Sprintf("if%d_%d_", i, k)), Result: i, Axis: k})
			}
		}
	}
	if len(o.Extents) > 0 && condition.HasData() {
		if condition.Item() != 0 { // the extents are those of the branch that is taken
			return made[0]
		}
		return made[1]
	}
	return rebuilt(made[0], region(o, bodies, condition))
}

// While is a loop over a state that starts as init. While condition(state), a bool of one element, is true,
// loop(state) becomes the new state. While returns the last state. S is a Value or a struct of Values, whose types
// do not change.
func While[S any](init S, condition func(S) Value, loop func(S) S) S {
	first := flatten(init)
	params := append([]Value{bodyParam(ir.TensorOf(I64)), bodyParam(ir.TensorOf(Bool))}, carriedParams(first)...)
	b := newBody(params, false, func() []Value {
		next := loop(rebuilt(init, params[2:]))
		results := carried(first, flatten(next))
		return append([]Value{condition(next)}, results...)
	})
	out := region(op.Loop{}, []*body{b}, append([]Value{{}, condition(init)}, first...)...)
	return rebuilt(init, out)
}

// Scan is a loop over the slices of xs along axis 0, with a state that starts as init. For each slice, f returns
// the new state and one value. Scan returns the last state, and the values stacked along axis 0. S is a Value or a
// struct of Values, whose types do not change.
func Scan[S any](xs Value, init S, f func(state S, x Value) (S, Value)) (S, Value) {
	first := flatten(init)
	trips := xs.Dim(0).d
	params := append([]Value{bodyParam(ir.TensorOf(I64)), bodyParam(ir.TensorOf(Bool))}, carriedParams(first)...)
	var y Value
	b := newBody(params, false, func() []Value {
		next, made := f(rebuilt(init, params[2:]), one(op.Gather{Axis: 0}, xs, params[0]))
		y = made
		results := carried(first, flatten(next))
		return append(append([]Value{params[1]}, results...), y)
	})
	out := region(op.Loop{Counted: true, Trips: trips, Scans: []ir.Type{y.typ()}}, []*body{b}, first...)
	return rebuilt(init, out), out[len(first)]
}

func carriedParams(first []Value) []Value {
	params := make([]Value, len(first))
	for i, v := range first {
		params[i] = bodyParam(v.typ())
	}
	return params
}

// carried returns `next`, the values after one iteration of a loop. It panics with an [*Error] unless they have the
// types of `first`, the initial values.
func carried(first, next []Value) []Value {
	if len(first) != len(next) {
		fail("the loop begins with %d values, a turn makes %d", len(first), len(next))
	}
	for i, v := range next {
		if !v.typ().Equal(first[i].typ()) {
			fail("the loop begins with %s, a turn makes %s", first[i].typ(), v.typ())
		}
	}
	return next
}

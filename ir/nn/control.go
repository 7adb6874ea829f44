package nn

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// flatten returns the Values in s: a Value, or a struct, array or slice of such.
func flatten(s any) []Value {
	var out []Value
	visit(reflect.ValueOf(&s).Elem().Elem(), func(v Value) Value { out = append(out, v); return v }, false)
	return out
}

// rebuilt returns s with its Values replaced, in the order of [flatten].
func rebuilt[S any](s S, values []Value) S {
	out := reflect.New(reflect.TypeFor[S]()).Elem()
	out.Set(reflect.ValueOf(&s).Elem())
	visit(out, func(Value) Value { v := values[0]; values = values[1:]; return v }, true)
	return out.Interface().(S)
}

// visit calls f for each Value in v and, with set, puts its result there. Slices are
// copied before.
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
		fail("%s is no nn.Value and has none", v.Type())
	}
}

var valueType = reflect.TypeFor[Value]()

// If is what then makes where a condition, a bool of one element, is true, else what
// els makes: Values, or structs of such, of the same element types and ranks. Where
// extents differ the result's are symbols.
func If[S any](condition Value, then, els func() S) S {
	var made [2]S
	var bodies []*body
	for i, f := range []func() S{then, els} {
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
		if condition.Item() != 0 { // the extents are those of what is taken
			return made[0]
		}
		return made[1]
	}
	return rebuilt(made[0], region(o, bodies, condition))
}

// While begins with init and, as long as a condition of it, a bool of one element,
// holds, puts what the body makes of it in its place. S is a Value or a struct of such;
// their types stay as they are.
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

// Scan begins with init and for each slice of xs along axis 0 puts what f makes of it
// and the slice in its place. It returns the last, and what f makes beside it for each
// slice, stacked along axis 0. S is a Value or a struct of such; their types stay as
// they are.
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

// carriedParams returns parameters of the types of what a loop begins with.
func carriedParams(first []Value) []Value {
	params := make([]Value, len(first))
	for i, v := range first {
		params[i] = bodyParam(v.typ())
	}
	return params
}

// carried checks what a turn of a loop makes against what it begins with.
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

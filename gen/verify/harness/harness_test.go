package harness

import (
	"bytes"
	"encoding/gob"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/burngen/burngen/runtime/rt"
)

var empty = cmpopts.EquateEmpty()

func TestAnyByteButZeroIsTrue(t *testing.T) {
	x, err := Decode(Value{Elem: "bool", Shape: []int{3}, Data: []byte{2, 0, 255}}, reflect.TypeFor[*[3]bool]())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Encode(x)
	if want := []byte{1, 0, 1}; err != nil || !bytes.Equal(got.Data, want) {
		t.Errorf("%v, %v", got.Data, err)
	}
}

// TestRoundTrip asserts that a value in every form that a generated package takes and returns comes
// back unchanged.
func TestRoundTrip(t *testing.T) {
	f32 := func(shape []int, data ...byte) Value { return Value{Elem: "float32", Shape: shape, Data: data} }
	two := f32([]int{2}, 0, 0, 128, 63, 0, 0, 0, 64)
	text := Value{Elem: "string", Shape: []int{2}, Texts: []string{"a", ""}}
	key := Value{Elem: "int64", Data: []byte{5, 0, 0, 0, 0, 0, 0, 0}}
	for _, c := range []struct {
		name string
		typ  reflect.Type
		v    Value
	}{
		{"static", reflect.TypeFor[*[2]float32](), two},
		{"static of two dimensions", reflect.TypeFor[*[1][2]float32](), f32([]int{1, 2}, two.Data...)},
		{"static scalar", reflect.TypeFor[*float32](), f32(nil, 0, 0, 128, 63)},
		{"static of nothing", reflect.TypeFor[*[0][2]float32](), f32([]int{0, 2})},
		{"batched", reflect.TypeFor[[][2]float32](), f32([]int{1, 2}, two.Data...)},
		{"batched of numbers", reflect.TypeFor[[]float32](), two},
		{"an empty batch", reflect.TypeFor[[][2]float32](), f32([]int{0, 2})},
		{"dynamic", reflect.TypeFor[rt.Tensor[float32]](), two},
		{"dynamic scalar", reflect.TypeFor[rt.Tensor[float32]](), f32(nil, 0, 0, 128, 63)},
		{"half floats", reflect.TypeFor[rt.Tensor[rt.Float16]](), Value{Elem: "rt.Float16", Shape: []int{1}, Data: []byte{0, 60}}},
		{"truth values", reflect.TypeFor[*[3]bool](), Value{Elem: "bool", Shape: []int{3}, Data: []byte{1, 0, 1}}},
		{"strings", reflect.TypeFor[rt.Tensor[string]](), text},
		{"no strings", reflect.TypeFor[rt.Tensor[string]](), Value{Elem: "string", Shape: []int{0}}},
		{"sequence", reflect.TypeFor[[]rt.Tensor[float32]](), Value{Kind: Sequence, Items: []Value{two, f32([]int{0})}}},
		{"empty sequence", reflect.TypeFor[[]rt.Tensor[float32]](), Value{Kind: Sequence}},
		{"optional", reflect.TypeFor[*rt.Tensor[float32]](), Value{Kind: Optional, Items: []Value{two}}},
		{"no optional", reflect.TypeFor[*rt.Tensor[float32]](), Value{Kind: Optional}},
		{"optional sequence", reflect.TypeFor[*[]rt.Tensor[float32]](), Value{Kind: Optional, Items: []Value{{Kind: Sequence, Items: []Value{two}}}}},
		{"map of tensors", reflect.TypeFor[map[int64]rt.Tensor[float32]](), Value{Kind: Map, Keys: []Value{key}, Items: []Value{two}}},
		{"sequence of maps of numbers", reflect.TypeFor[[]map[int64]float32](), Value{Kind: Sequence, Items: []Value{{Kind: Map, Keys: []Value{key}, Items: []Value{f32(nil, 0, 0, 128, 63)}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := Decode(c.v, c.typ)
			if err != nil {
				t.Fatal(err)
			}
			if x.Type() != c.typ {
				t.Fatalf("got a %s", x.Type())
			}
			got, err := Encode(x)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.v, got, empty); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	v := Value{Elem: "float32", Shape: []int{2}, Data: make([]byte, 8)}
	for _, c := range []struct {
		name string
		v    Value
		typ  reflect.Type
	}{
		{"another shape", v, reflect.TypeFor[*[3]float32]()},
		{"another rank", v, reflect.TypeFor[[][2]float32]()},
		{"wider elements", v, reflect.TypeFor[*[2]float64]()},
		{"strings", v, reflect.TypeFor[rt.Tensor[string]]()},
		{"strings for numbers", Value{Elem: "string", Shape: []int{1}, Texts: []string{"a"}}, reflect.TypeFor[rt.Tensor[float32]]()},
		{"a sequence", v, reflect.TypeFor[map[int64]float32]()},
		{"a tensor for a sequence", Value{Kind: Sequence}, reflect.TypeFor[rt.Tensor[float32]]()},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Decode(c.v, c.typ); err == nil {
				t.Error("accepted")
			}
		})
	}
}

type inputs struct {
	A *[1]float32
	B []int64
}

type outputs struct {
	Y []int64
	Z *[1]float32
}

func TestServe(t *testing.T) {
	loads := 0
	cases := []Case{
		{"pair", func() (any, error) {
			loads++
			return func(in inputs) (outputs, error) { return outputs{in.B, in.A}, nil }, nil
		}},
		{"fails", func() (any, error) {
			return func(x *[1]float32) (*[1]float32, error) { return nil, errors.New("no") }, nil
		}},
		{"no weights", func() (any, error) { return nil, errors.New("no weights") }},
		{"panics", func() (any, error) {
			return func(x *[1]float32) (*[1]float32, error) { return nil, &rt.PanicError{Value: "odd"} }, nil
		}},
	}
	a := Value{Elem: "float32", Shape: []int{1}, Data: []byte{0, 0, 128, 63}}
	b := Value{Elem: "int64", Shape: []int{1}, Data: []byte{7, 0, 0, 0, 0, 0, 0, 0}}
	var in, out bytes.Buffer
	e := gob.NewEncoder(&in)
	for _, q := range []Request{{0, []Value{a, b}}, {0, []Value{a, b}}, {0, []Value{a}}, {1, []Value{a}}, {2, nil}, {3, []Value{a}}} {
		if err := e.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := serve(cases, &in, &out); err != nil {
		t.Fatal(err)
	}
	d := gob.NewDecoder(&out)
	for i, want := range []Reply{
		{Outputs: []Value{b, a}}, {Outputs: []Value{b, a}}, {Err: "1 inputs, the package has 2"},
		{Err: "no"}, {Err: "no weights"}, {Err: "panic: odd", Panicked: true},
	} {
		var got Reply
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, empty); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
	if loads != 1 {
		t.Errorf("loaded %d times", loads)
	}
	in.Reset()
	if err := gob.NewEncoder(&in).Encode(Request{Case: 9}); err != nil {
		t.Fatal(err)
	}
	if err := serve(cases, &in, &out); err == nil || !strings.Contains(err.Error(), "no case 9") {
		t.Errorf("got %v", err)
	}
}

//go:build js && wasm

package web

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// Main loads a model and lets the script that started the program call its methods. It does not return, unless the
// model cannot be loaded.
//
// The script defines a function burngenReady before it starts the program. Main calls it once, with an object. The
// object has the property error, a text, if the model cannot be loaded. Otherwise its properties are name, methods,
// call and reset:
//
//   - methods is an array of objects with the name of a method, its inputs and its outputs;
//   - call(i, inputs) calls methods[i]; inputs is an array of objects {name, data, shape}, and the result is
//     {outputs}, an array of such objects, or {error};
//   - reset() forgets the states that the model keeps between calls.
//
// load loads the model. methods returns the methods of a session as values, such as s.Forward, in the order of
// [rt.Served].
func Main[M interface{ Served() rt.Served }, S any](load func() (M, error), methods func(s S) []any) {
	ready := js.Global().Get("burngenReady")
	p, err := open(load, methods)
	if err != nil {
		ready.Invoke(failed(err))
		return
	}
	ready.Invoke(p.object())
	select {} // calls come from the script
}

// program is a model that a script calls.
type program struct {
	name    string
	methods []*untyped.Method
	session *untyped.Session
}

func open[M interface{ Served() rt.Served }, S any](load func() (M, error), methods func(s S) []any) (p *program, err error) {
	defer rt.Recover("load", &err)
	m, err := load()
	if err != nil {
		return nil, err
	}
	served := m.Served()
	p = &program{name: served.Name}
	for _, s := range served.Methods {
		m, err := untyped.NewMethod(MethodName(s.Name), s)
		if err != nil {
			return nil, err
		}
		p.methods = append(p.methods, m)
	}
	session, err := served.Open()
	if err != nil {
		return nil, err
	}
	s, ok := session.(S)
	if !ok {
		return nil, fmt.Errorf("the session is a %T", session)
	}
	p.session, err = untyped.BindFuncs(session, p.methods, methods(s))
	return p, err
}

func (p *program) object() map[string]any {
	var methods []any
	for _, m := range p.methods {
		methods = append(methods, map[string]any{"name": m.Label, "inputs": described(m.In), "outputs": described(m.Out)})
	}
	return map[string]any{
		"name":    p.name,
		"methods": methods,
		"call": js.FuncOf(func(_ js.Value, args []js.Value) any {
			out, err := p.call(args)
			if err != nil {
				return failed(err)
			}
			return map[string]any{"outputs": out}
		}),
		"reset": js.FuncOf(func(js.Value, []js.Value) any { p.session.Reset(); return nil }),
	}
}

func described(ports []*untyped.Port) []any {
	list := []any{}
	for _, p := range ports {
		shape := []any{}
		for i, n := range p.Extents {
			if n < 0 {
				shape = append(shape, p.Symbols[i])
			} else {
				shape = append(shape, n)
			}
		}
		list = append(list, map[string]any{"name": p.Name, "type": p.DType, "array": classes[p.DType], "shape": shape})
	}
	return list
}

func failed(err error) map[string]any { return map[string]any{"error": err.Error()} }

// call calls a method. args[0] is the index of the method, and args[1] the array of its inputs.
func (p *program) call(args []js.Value) (out []any, err error) {
	defer rt.Recover("call", &err)
	m := p.methods[args[0].Int()]
	given := make([]value, args[1].Length())
	for i := range given {
		if given[i], err = valueOf(args[1].Index(i)); err != nil {
			return nil, err
		}
	}
	in, from, err := inputs(m, given)
	if err != nil {
		return nil, err
	}
	for k := range in {
		if err := fill(&in[k], args[1].Index(from[k]).Get("data")); err != nil {
			return nil, err
		}
	}
	results, err := p.session.Run(context.Background(), m, in)
	if err != nil {
		return nil, err
	}
	for i := range results {
		out = append(out, output(&results[i]))
	}
	return out, nil
}

// valueOf describes an input {name, data, shape}. It returns an error if data is not an array, or if shape is
// neither undefined nor a list of integers.
func valueOf(x js.Value) (value, error) {
	v := value{name: x.Get("name").String()}
	data, shape := x.Get("data"), x.Get("shape")
	v.class = classOf(data)
	if v.class == "" {
		return v, fmt.Errorf("input %q is not an array; pass a typed array, an array of strings, or {data, shape}", v.name)
	}
	v.length = data.Length()
	if shape.IsUndefined() {
		return v, nil
	}
	if classOf(shape) != "Array" || shape.Length() > maxRank {
		return v, fmt.Errorf("input %q: its shape is not an array of at most %d numbers", v.name, maxRank)
	}
	v.shape = []int{}
	for i := range shape.Length() {
		n := shape.Index(i)
		if n.Type() != js.TypeNumber || n.Float() != float64(int(n.Float())) {
			return v, fmt.Errorf("input %q: dimension %d of its shape is not an integer", v.name, i)
		}
		v.shape = append(v.shape, n.Int())
	}
	return v, nil
}

const maxRank = 32

// classOf returns the name of the class of an array, or "" if x is not an array.
func classOf(x js.Value) string {
	if js.Global().Get("Array").Call("isArray", x).Bool() {
		return "Array"
	}
	if js.Global().Get("ArrayBuffer").Call("isView", x).Bool() && x.Get("BYTES_PER_ELEMENT").Type() == js.TypeNumber {
		return x.Get("constructor").Get("name").String()
	}
	return ""
}

// fill copies the elements of an array, which has the class and length that x needs.
func fill(x *untyped.Tensor, array js.Value) error {
	if x.Port.IsText() {
		x.Texts = make([]string, array.Length())
		for i := range x.Texts {
			text := array.Index(i)
			if text.Type() != js.TypeString {
				return fmt.Errorf("input %q: element %d is not a string", x.Port.Name, i)
			}
			x.Texts[i] = text.String()
		}
		return nil
	}
	x.Data = untyped.Alloc(array.Length() * x.Port.Size)
	js.CopyBytesToGo(x.Data, js.Global().Get("Uint8Array").New(array.Get("buffer"), array.Get("byteOffset"), len(x.Data)))
	if x.Port.DType == "bool" {
		untyped.NormaliseBools(x.Data)
	}
	return nil
}

// output returns {name, data, shape} for an output.
func output(x *untyped.Tensor) map[string]any {
	shape := []any{}
	for _, n := range x.Shape {
		shape = append(shape, n)
	}
	var data any
	if x.Port.IsText() {
		texts := []any{}
		for _, t := range x.Texts {
			texts = append(texts, t)
		}
		data = texts
	} else {
		bytes := js.Global().Get("Uint8Array").New(len(x.Data))
		js.CopyBytesToJS(bytes, x.Data)
		data = js.Global().Get(classes[x.Port.DType]).New(bytes.Get("buffer"))
	}
	return map[string]any{"name": x.Port.Name, "data": data, "shape": shape}
}

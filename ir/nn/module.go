package nn

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Param is a handle to a tensor that training changes. Copies refer to the same parameter. The zero Param is an
// absent parameter, such as the bias of a layer without a bias.
type Param struct {
	p        *param
	tied     bool
	detached bool
}

// Buffer is a handle to a tensor that is saved with a model, but not trained by gradients. Running statistics are
// buffers. The zero Buffer is an absent buffer.
type Buffer struct{ p *param }

type param struct {
	typ    ir.Type
	init   rt.Init
	given  *ir.Weight // data for rt.InitGiven
	buffer bool
	frozen bool
	// path is the name in the model, or "" before it is named. aliases are further paths.
	path    string
	aliases []string
	number  int64 // sequence number among the parameters created
	value   Value
	pos     string
}

// NewParam returns an f32 parameter of this shape, initialised by init.
func NewParam(init Init, shape ...int) Param { return Param{p: newParam(init(shape), shape)} }

// ParamOf returns a parameter with the elements of v as its initial value.
func ParamOf(v Value) Param { return Param{p: givenParam(weightOf(v.tensor()))} }

// NewBuffer returns an f32 buffer whose elements start as x.
func NewBuffer(x float64, shape ...int) Buffer {
	return Buffer{asBuffer(newParam(Constant(x)(shape), shape))}
}

// BufferOf returns a buffer with the elements of v as its initial value.
func BufferOf(v Value) Buffer { return Buffer{asBuffer(givenParam(weightOf(v.tensor())))} }

func asBuffer(p *param) *param { p.buffer = true; return p }

func newParam(init rt.Init, shape []int) *param {
	if _, err := ir.CheckedLen(shape); err != nil {
		fail("shape %v: %v", shape, err)
	}
	return makeParam(&param{typ: ir.StaticTensor(F32, shape...), init: init})
}

func givenParam(w *ir.Weight) *param {
	return makeParam(&param{typ: w.Type, init: rt.Init{Kind: rt.InitGiven}, given: w})
}

func weightOf(t *ir.Tensor) *ir.Weight { return &ir.Weight{Type: t.Type(), Data: t.Bytes()} }

func makeParam(p *param) *param {
	p.number = session.params.Add(1)
	p.value = leaf(&node{types: []ir.Type{p.typ}, param: p, open: session.recording})
	p.pos = p.value.n.pos
	return p
}

func (p *param) String() string {
	if p.path == "" {
		return "made at " + shortPos(p.pos)
	}
	return strconv.Quote(p.path)
}

// tensor returns the initial value. If no value was given, tensor draws numbers. They depend on the parameter's
// path, or on its number while it does not have a path.
func (p *param) tensor() *ir.Tensor {
	if p.given != nil {
		t, err := p.given.Tensor()
		if err != nil {
			panic(&Error{p.pos, err.Error()})
		}
		return t
	}
	name := p.path
	if name == "" {
		name = strconv.FormatInt(p.number, 10)
	}
	shape, _ := p.typ.Static()
	t := ir.NewTensor(p.typ.DType, shape...)
	elems := make([]float32, t.Len())
	if err := p.init.Fill(elems, seed.Load(), name, shape...); err != nil {
		panic(&Error{p.pos, err.Error()})
	}
	for i, x := range elems {
		t.SetFloat(i, float64(x))
	}
	return t
}

// setPath sets the path of p. It discards an initial value that was drawn under another path.
func (p *param) setPath(path string) {
	if p.path == path {
		return
	}
	p.path = path
	p.value.n.data = nil
}

// Valid reports whether p is not the zero Param.
func (p Param) Valid() bool { return p.p != nil }

func (p Param) get() *param {
	if p.p == nil {
		fail("the parameter is the zero nn.Param")
	}
	return p.p
}

// Value returns the parameter as a tensor.
func (p Param) Value() Value {
	v := p.get().value
	if p.detached {
		return v.Detach()
	}
	return v
}

// Name returns the parameter's path in the model. It returns "" if neither the function [Name] nor a recording has
// set the path yet.
func (p Param) Name() string { return p.get().path }

// Shape returns the extents.
func (p Param) Shape() []int { shape, _ := p.get().typ.Static(); return shape }

// Tied returns the same parameter, to be used at a second place in a model. The first place gives the parameter its
// name, and other places are aliases.
func (p Param) Tied() Param { p.tied = true; return p }

// Frozen marks the parameter as not trained, and returns it.
func (p Param) Frozen() Param {
	if p.p != nil {
		p.p.frozen = true
	}
	return p
}

// IsFrozen reports whether the parameter is marked as not trained. It panics with an [*Error] if p is the zero Param.
func (p Param) IsFrozen() bool { return p.get().frozen }

// Detached returns a copy of the handle to the same parameter. The parameter gets no gradient through this copy.
func (p Param) Detached() Param { p.detached = true; return p }

// Valid reports whether b is not the zero Buffer.
func (b Buffer) Valid() bool { return b.p != nil }

func (b Buffer) get() *param {
	if b.p == nil {
		fail("the buffer is the zero nn.Buffer")
	}
	return b.p
}

// Value returns the buffer as a tensor.
func (b Buffer) Value() Value { return b.get().value }

// Name returns the buffer's path in the model.
func (b Buffer) Name() string { return b.get().path }

// Snake converts the name of a Go field to a path element: "QProj" to "q_proj", "FC1" to "fc1",
// "LMHead" to "lm_head".
func Snake(name string) string {
	r := []rune(name)
	var b strings.Builder
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 && r[i-1] != '_' {
			before := !unicode.IsUpper(r[i-1])
			last := unicode.IsUpper(r[i-1]) && i+1 < len(r) && unicode.IsLower(r[i+1])
			if before || last {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

var (
	paramType  = reflect.TypeFor[Param]()
	bufferType = reflect.TypeFor[Buffer]()
	stateType  = reflect.TypeFor[*State]()
	dtypeType  = reflect.TypeFor[DType]()
)

// part is a parameter, a buffer, a state or a module inside a module, with its path.
type part struct {
	path  string
	depth int
	// At most one of these is set; a module has neither.
	param  *param
	state  *State
	tied   bool
	typ    reflect.Type // type of a module
	module reflect.Value
}

// walk calls f for the module m and for all modules, parameters, buffers and states inside it. It goes through the
// fields in order, and calls f for a module before the things inside it.
func walk(m any, f func(part)) {
	v := reflect.ValueOf(m)
	if !v.IsValid() {
		fail("there is no module")
	}
	(&walker{f: f, within: map[uintptr]bool{}}).value(v, "", 0)
}

type walker struct {
	f      func(part)
	within map[uintptr]bool // pointers on the current path
}

func join(path, element string) string {
	if path == "" {
		return element
	}
	return path + "." + element
}

func (w *walker) value(v reflect.Value, path string, depth int) {
	switch v.Type() {
	case paramType:
		if p := v.Interface().(Param); p.p != nil {
			w.f(part{path: path, depth: depth, param: p.p, tied: p.tied})
		}
		return
	case bufferType:
		if b := v.Interface().(Buffer); b.p != nil {
			w.f(part{path: path, depth: depth, param: b.p})
		}
		return
	case stateType:
		if s := v.Interface().(*State); s != nil {
			w.f(part{path: path, depth: depth, state: s})
		}
		return
	case valueType, dtypeType:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || w.within[v.Pointer()] {
			return
		}
		w.within[v.Pointer()] = true
		defer delete(w.within, v.Pointer())
		w.value(v.Elem(), path, depth)
	case reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem(), path, depth)
		}
	case reflect.Slice, reflect.Array:
		if !mayHold(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			w.value(v.Index(i), join(path, strconv.Itoa(i)), depth)
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || !mayHold(v.Type().Elem()) {
			return
		}
		keys := map[string]reflect.Value{}
		for _, k := range v.MapKeys() {
			keys[k.String()] = k
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			w.value(v.MapIndex(keys[k]), join(path, k), depth)
		}
	case reflect.Struct:
		w.fields(v, path, depth)
	}
}

func mayHold(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

func (w *walker) fields(v reflect.Value, path string, depth int) {
	if v.CanInterface() { // an embedded field may be unexported
		if checker, ok := v.Interface().(interface{ check() error }); ok {
			if err := checker.check(); err != nil {
				fail("%s is a zero nn.%s; %v", orModel(path), v.Type().Name(), err)
			}
		}
	}
	w.f(part{path: path, depth: depth, typ: v.Type(), module: v})
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag.Get("nn")
		if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) || tag == "-" {
			continue
		}
		at := join(path, tag)
		switch {
		case tag == "" && f.Anonymous || tag == ".":
			at = path
		case tag == "":
			at = join(path, Snake(f.Name))
		}
		w.value(v.Field(i), at, depth+1)
	}
}

func orModel(path string) string {
	if path == "" {
		return "the model"
	}
	return path
}

// Name gives each parameter, buffer and state of a model a name. The name is the path of exported fields that leads
// to it, in snake case and joined by dots. A field tag `nn:"name"` replaces the field's name. The tag "." leaves
// the field out of the path, and "-" skips the field and all that is in it. Initial values that were drawn under
// other names are drawn again. Name panics with an [*Error] if two parameters get one name. It also panics if one
// parameter is at two places and neither is marked with [Param.Tied].
func Name(m any) {
	owners := map[string]any{}
	named := map[any]bool{}
	take := func(path, pos string, part any, rename func()) bool {
		if other, ok := owners[path]; ok && other != part {
			panic(&Error{pos, fmt.Sprintf("two parameters are called %s", path)})
		}
		owners[path] = part
		first := !named[part]
		if named[part] = true; first {
			rename()
		}
		return first
	}
	// A tied use does not give the name if an untied place follows.
	second := map[*param]bool{}
	walk(m, func(x part) {
		if x.param != nil && !x.tied {
			second[x.param] = true
		}
	})
	ties := map[*param]string{}
	walk(m, func(x part) {
		switch {
		case x.state != nil:
			take(x.path, x.state.pos, x.state, func() { x.state.path = x.path })
		case x.param != nil:
			p := x.param
			if take(x.path, p.pos, p, func() { p.setPath(x.path); p.aliases = nil }) {
				if x.tied && second[p] {
					ties[p] = x.path
				}
				return
			}
			if p.path == x.path {
				return
			}
			if !x.tied {
				if _, ok := ties[p]; !ok {
					panic(&Error{p.pos, fmt.Sprintf("%s and %s are one parameter; write .Tied() if they are meant to share it", p.path, x.path)})
				}
				delete(ties, p)
			}
			p.aliases = append(p.aliases, x.path)
		}
	})
}

// params returns the parameters and buffers of a model, each once, in the order of the fields.
func params(m any) []*param {
	var out []*param
	seen := map[*param]bool{}
	walk(m, func(x part) {
		if x.param != nil && !seen[x.param] {
			seen[x.param] = true
			out = append(out, x.param)
		}
	})
	return out
}

// Params returns the parameters of a model, each once, in the order of the fields.
func Params(m any) []Param {
	var out []Param
	for _, p := range params(m) {
		if !p.buffer {
			out = append(out, Param{p: p})
		}
	}
	return out
}

// Buffers returns the buffers of a model, each once, in the order of the fields.
func Buffers(m any) []Buffer {
	var out []Buffer
	for _, p := range params(m) {
		if p.buffer {
			out = append(out, Buffer{p})
		}
	}
	return out
}

// NumParams returns the number of elements of all parameters of a model.
func NumParams(m any) int {
	n := 0
	for _, p := range Params(m) {
		size, _ := ir.CheckedLen(p.Shape())
		n += size
	}
	return n
}

// Freeze marks the parameters of a module as not trained, and returns the module.
func Freeze[M any](m M) M {
	for _, p := range Params(m) {
		p.Frozen()
	}
	return m
}

// Detached returns a copy of a module. The copy has the same parameters and computes the same, but the parameters
// get no gradients through the copy. It copies the structs, slices and maps of the module. Use it when two networks
// are trained against each other, to compute gradients of only one. Names do not change.
func Detached[M any](m M) M {
	v := reflect.New(reflect.TypeFor[M]()).Elem()
	v.Set(detached(reflect.ValueOf(&m).Elem()))
	return v.Interface().(M)
}

func detached(v reflect.Value) reflect.Value {
	if v.Type() == paramType {
		return reflect.ValueOf(v.Interface().(Param).Detached())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == stateType || v.Elem().Kind() != reflect.Struct {
			return v
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(detached(v.Elem()))
		return c
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return detached(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() || !mayHold(v.Type().Elem()) {
			return v
		}
		c := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Slice {
			c = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		}
		for i := range v.Len() {
			c.Index(i).Set(detached(v.Index(i)))
		}
		return c
	case reflect.Map:
		if v.IsNil() || !mayHold(v.Type().Elem()) {
			return v
		}
		c := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			c.SetMapIndex(k, detached(v.MapIndex(k)))
		}
		return c
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		detachFields(c)
		return c
	}
	return v
}

func detachFields(c reflect.Value) {
	for i := range c.NumField() {
		switch f := c.Type().Field(i); {
		case f.IsExported():
			c.Field(i).Set(detached(c.Field(i)))
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			detachFields(c.Field(i))
		}
	}
}

// Assign sets the parameters and buffers of a model, to try it with known weights. The keys of
// values are the names that the function [Name] gives. Assign panics with an [*Error] if the model
// does not have such a name, or if a value has another type.
func Assign(m any, values map[string]Value) {
	Name(m)
	known := map[string]*param{}
	for _, p := range params(m) {
		for _, name := range append([]string{p.path}, p.aliases...) {
			known[name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p, ok := known[name]
		if !ok {
			fail("the model has no parameter %q", name)
		}
		t := values[name].tensor()
		if !t.Type().Equal(p.typ) {
			fail("parameter %q is %s, not %s", name, p.typ, t.Type())
		}
		p.value.n.data = []*ir.Tensor{t}
	}
}

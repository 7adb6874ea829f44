package untyped

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// Session is a session of a generated package whose methods can be called with tensors. It runs one call at
// a time.
type Session struct {
	reset  interface{ Reset() } // nil if the session has no states
	within interface{ SetContext(context.Context) }
	calls  map[*Method]*call
}

// call is a method of a session with variables for its parameters.
type call struct {
	method *Method
	fn     reflect.Value
	// parameters in order; the destination of results is the first one
	args []reflect.Value
	// the variables for tensors among args, or their fields
	in, out []reflect.Value
}

// Bind returns a session whose methods in list can be called with tensors. s points to the Session
// of a generated package. Bind returns an error if a method does not accept the tensors of its
// ports.
func Bind(s any, list []*Method) (*Session, error) {
	v := reflect.ValueOf(s)
	var funcs []reflect.Value
	for _, m := range list {
		funcs = append(funcs, v.MethodByName(m.Name))
	}
	return newSession(s, list, funcs)
}

// BindFuncs is [Bind] for a program that passes the methods in list as values, such as s.Forward, in funcs. It makes
// programs smaller: Bind finds methods by name, and the linker then keeps methods that nothing calls. BindFuncs also
// returns an error if funcs and list have different lengths.
func BindFuncs(s any, list []*Method, funcs []any) (*Session, error) {
	if len(funcs) != len(list) {
		return nil, fmt.Errorf("%T has %d methods, want %d", s, len(funcs), len(list))
	}
	var values []reflect.Value
	for _, f := range funcs {
		values = append(values, reflect.ValueOf(f))
	}
	return newSession(s, list, values)
}

func newSession(s any, list []*Method, funcs []reflect.Value) (*Session, error) {
	out := &Session{calls: map[*Method]*call{}}
	out.reset, _ = s.(interface{ Reset() })
	var ok bool
	if out.within, ok = s.(interface{ SetContext(context.Context) }); !ok {
		return nil, fmt.Errorf("%T is not the session of a generated package", s)
	}
	for i, m := range list {
		c, err := newCall(funcs[i], m)
		if err != nil {
			return nil, fmt.Errorf("%s: method %s of %T: %w", m.Label, m.Name, s, err)
		}
		out.calls[m] = c
	}
	return out, nil
}

// Reset forgets the states that the session keeps. It does nothing for a session without states.
func (s *Session) Reset() {
	if s.reset != nil {
		s.reset.Reset()
	}
}

func newCall(fn reflect.Value, m *Method) (*call, error) {
	if !fn.IsValid() || fn.Kind() != reflect.Func {
		return nil, fmt.Errorf("there is no such method")
	}
	t := fn.Type()
	if t.NumIn() == 0 || t.NumOut() != 1 || t.Out(0) != reflect.TypeFor[error]() {
		return nil, fmt.Errorf("it has type %s", t)
	}
	c := &call{method: m, fn: fn}
	for i := range t.NumIn() {
		c.args = append(c.args, reflect.New(t.In(i)).Elem())
	}
	c.in = fields(c.args[1:])
	if dst := c.args[0]; dst.Kind() == reflect.Pointer && (isResults(dst.Type().Elem()) || isTensor(dst.Type().Elem())) {
		dst.Set(reflect.New(dst.Type().Elem()))
		c.out = fields([]reflect.Value{dst.Elem()})
	} else {
		c.out = fields(c.args[:1])
	}
	if len(c.in) != len(m.In) || len(c.out) != len(m.Out) {
		return nil, fmt.Errorf("it takes %d inputs and returns %d, want %d and %d", len(c.in), len(c.out), len(m.In), len(m.Out))
	}
	for i, p := range slices.Concat(m.In, m.Out) {
		if v := slices.Concat(c.in, c.out)[i]; !holds(v.Type(), p) {
			return nil, fmt.Errorf("%q is a %s, which is not a tensor", p.Name, v.Type())
		}
	}
	return c, nil
}

// fields returns the variables of args that hold tensors. If args is one struct of inputs or
// results, it returns the fields of the struct.
func fields(args []reflect.Value) []reflect.Value {
	if len(args) != 1 || !isResults(args[0].Type()) {
		return args
	}
	var out []reflect.Value
	for i := range args[0].NumField() {
		out = append(out, args[0].Field(i))
	}
	return out
}

var tensorPackage = reflect.TypeFor[rt.Tensor[float32]]().PkgPath()

func isTensor(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == tensorPackage && strings.HasPrefix(t.Name(), "Tensor[")
}

func isResults(t reflect.Type) bool { return t.Kind() == reflect.Struct && !isTensor(t) }

// holds reports whether a variable of type t can hold a tensor of port p.
func holds(t reflect.Type, p *Port) bool {
	if isTensor(t) {
		elem := t.Field(0).Type.Elem()
		return int(elem.Size()) == p.Size || p.IsText() && elem.Kind() == reflect.String
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 && int(t.Size()) == p.Size
}

// Run calls m, which must be one of the methods given to [Bind], with an input for each of its ports. The
// inputs must pass [CheckShapes], and have as many elements as their shapes. The results do not share memory
// with the session. The call ends early with an error if ctx is done.
func (s *Session) Run(ctx context.Context, m *Method, in []Tensor) ([]Tensor, error) {
	c := s.calls[m]
	s.within.SetContext(ctx)
	defer s.within.SetContext(nil) //lint:ignore SA1012 nil stands for no context
	for i, v := range c.in {
		point(v, &in[i])
	}
	out := make([]Tensor, len(c.out))
	for i, v := range c.out {
		out[i].Port = m.Out[i]
		if err := room(v, &out[i], in); err != nil {
			return nil, err
		}
	}
	err, _ := c.fn.Call(c.args)[0].Interface().(error)
	for i, v := range c.out {
		if err == nil {
			take(v, &out[i])
		}
		v.SetZero()
	}
	for _, v := range c.in {
		v.SetZero()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// emptied is the memory to which empty slices of arrays point.
var emptied [8]byte

// point makes the variable v refer to the memory of tensor x.
func point(v reflect.Value, x *Tensor) {
	p := unsafe.Pointer(unsafe.SliceData(x.Data))
	if p == nil {
		p = unsafe.Pointer(&emptied)
	}
	t := v.Type()
	switch {
	case isTensor(t):
		data := v.Field(0)
		if x.Port.IsText() {
			data.Set(reflect.ValueOf(x.Texts))
		} else {
			data.Set(reflect.SliceAt(data.Type().Elem(), p, x.Len()))
		}
		v.Field(1).Set(reflect.ValueOf(x.Shape))
	case t.Kind() == reflect.Pointer:
		if t.Elem().Size() == 0 {
			v.Set(reflect.New(t.Elem()))
		} else {
			v.Set(reflect.NewAt(t.Elem(), p))
		}
	case t.Kind() == reflect.Slice:
		v.Set(reflect.SliceAt(t.Elem(), p, x.Shape[0]))
	default:
		v.Set(reflect.NewAt(t, p).Elem())
	}
}

// room allocates memory for result x. v is the variable that the method takes for x. If v is a
// slice, it becomes a slice with an element for each item of the inputs. If v is a Tensor, room does
// nothing, because the method allocates the memory.
func room(v reflect.Value, x *Tensor, in []Tensor) error {
	t := v.Type()
	if isTensor(t) {
		return nil
	}
	x.Shape = slices.Clone(x.Port.Extents)
	if t.Kind() == reflect.Slice {
		for i := range in {
			if len(in[i].Shape) > 0 && in[i].Port.Extents[0] < 0 {
				x.Shape[0] = in[i].Shape[0]
				break
			}
		}
	}
	n, err := Elements(x.Shape, x.Port.Size)
	if err == nil {
		err = rt.CheckSize[uint64](n*x.Port.Size/8 + 1)
	}
	if err != nil {
		return fmt.Errorf("output %q: %w", x.Port.Name, err)
	}
	x.Data = Alloc(n * x.Port.Size)
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		point(v, x)
	}
	return nil
}

func take(v reflect.Value, x *Tensor) {
	t := v.Type()
	switch {
	case isTensor(t) && x.Port.IsText():
		x.Texts, x.Shape = v.Field(0).Interface().([]string), v.Field(1).Interface().([]int)
	case isTensor(t):
		data := v.Field(0)
		if data.Len() > 0 {
			x.Data = unsafe.Slice((*byte)(data.UnsafePointer()), data.Len()*x.Port.Size)
		}
		x.Shape = v.Field(1).Interface().([]int)
	case t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice:
		reflect.NewAt(t, unsafe.Pointer(unsafe.SliceData(x.Data))).Elem().Set(v)
	}
}

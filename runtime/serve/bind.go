package serve

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// method describes a method of a model to the server.
type method struct {
	// name of the Go method
	name    string
	label   string
	in, out []*port
	// the first axis of every input and output is the batch
	batch    bool
	stateful bool
}

// newMethod returns the description of a method. label is its name in the protocol.
func newMethod(label string, m rt.ServedMethod) (*method, error) {
	in, err := portsOf(m.Inputs)
	if err != nil {
		return nil, fmt.Errorf("%s: input %w", label, err)
	}
	out, err := portsOf(m.Outputs)
	if err != nil {
		return nil, fmt.Errorf("%s: output %w", label, err)
	}
	return &method{name: m.Name, label: label, in: in, out: out, batch: m.Batch != "" && !m.Stateful, stateful: m.Stateful}, nil
}

// session is a session of a package whose methods can be called with tensors. It runs one call at a
// time.
type session struct {
	value  reflect.Value
	reset  interface{ Reset() } // nil if the session has no states
	within interface{ SetContext(context.Context) }
	calls  map[*method]*call
}

// call is a method of a session with variables for its parameters.
type call struct {
	method *method
	fn     reflect.Value
	// parameters in order; the destination of results is the first one
	args []reflect.Value
	// the variables for tensors among args, or their fields
	in, out []reflect.Value
}

// bind returns a session whose methods in list can be called with tensors. s points to the Session
// of a generated package. bind returns an error if a method does not accept the tensors of its
// ports.
func bind(s any, list []*method) (*session, error) {
	out := &session{value: reflect.ValueOf(s), calls: map[*method]*call{}}
	out.reset, _ = s.(interface{ Reset() })
	var ok bool
	if out.within, ok = s.(interface{ SetContext(context.Context) }); !ok {
		return nil, fmt.Errorf("%T is not the session of a generated package", s)
	}
	for _, m := range list {
		c, err := newCall(out.value.MethodByName(m.name), m)
		if err != nil {
			return nil, fmt.Errorf("%s: method %s of %T: %w", m.label, m.name, s, err)
		}
		out.calls[m] = c
	}
	return out, nil
}

func newCall(fn reflect.Value, m *method) (*call, error) {
	if !fn.IsValid() {
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
	if len(c.in) != len(m.in) || len(c.out) != len(m.out) {
		return nil, fmt.Errorf("it takes %d inputs and returns %d, want %d and %d", len(c.in), len(c.out), len(m.in), len(m.out))
	}
	for i, p := range slices.Concat(m.in, m.out) {
		if v := slices.Concat(c.in, c.out)[i]; !holds(v.Type(), p) {
			return nil, fmt.Errorf("%q is a %s, which is not a tensor", p.label, v.Type())
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
func holds(t reflect.Type, p *port) bool {
	if isTensor(t) {
		elem := t.Field(0).Type.Elem()
		return int(elem.Size()) == p.size || p.isText() && elem.Kind() == reflect.String
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 && int(t.Size()) == p.size
}

// run calls m. The inputs must have the shapes of the method's ports. The results do not share
// memory with the session.
func (s *session) run(ctx context.Context, m *method, in []tensor) ([]tensor, error) {
	c := s.calls[m]
	s.within.SetContext(ctx)
	defer s.within.SetContext(nil) //lint:ignore SA1012 nil stands for no context
	for i, v := range c.in {
		point(v, &in[i])
	}
	out := make([]tensor, len(c.out))
	for i, v := range c.out {
		out[i].port = m.out[i]
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
func point(v reflect.Value, x *tensor) {
	p := unsafe.Pointer(unsafe.SliceData(x.data))
	if p == nil {
		p = unsafe.Pointer(&emptied)
	}
	t := v.Type()
	switch {
	case isTensor(t):
		data := v.Field(0)
		if x.port.isText() {
			data.Set(reflect.ValueOf(x.texts))
		} else {
			data.Set(reflect.SliceAt(data.Type().Elem(), p, x.len()))
		}
		v.Field(1).Set(reflect.ValueOf(x.shape))
	case t.Kind() == reflect.Pointer:
		if t.Elem().Size() == 0 {
			v.Set(reflect.New(t.Elem()))
		} else {
			v.Set(reflect.NewAt(t.Elem(), p))
		}
	case t.Kind() == reflect.Slice:
		v.Set(reflect.SliceAt(t.Elem(), p, x.shape[0]))
	default:
		v.Set(reflect.NewAt(t, p).Elem())
	}
}

// room allocates memory for result x. v is the value that the method takes for it. If v is a slice,
// it gets an element for each item of the inputs. If v is a tensor, room does nothing, because the
// method allocates the memory.
func room(v reflect.Value, x *tensor, in []tensor) error {
	t := v.Type()
	if isTensor(t) {
		return nil
	}
	x.shape = slices.Clone(x.port.extents)
	if t.Kind() == reflect.Slice {
		for i := range in {
			if len(in[i].shape) > 0 && in[i].port.extents[0] < 0 {
				x.shape[0] = in[i].shape[0]
				break
			}
		}
	}
	n, err := elements(x.shape, x.port.size)
	if err == nil {
		err = rt.CheckSize[uint64](n*x.port.size/8 + 1)
	}
	if err != nil {
		return fmt.Errorf("output %q: %w", x.port.label, err)
	}
	x.data = alloc(n * x.port.size)
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		point(v, x)
	}
	return nil
}

func take(v reflect.Value, x *tensor) {
	t := v.Type()
	switch {
	case isTensor(t) && x.port.isText():
		x.texts, x.shape = v.Field(0).Interface().([]string), v.Field(1).Interface().([]int)
	case isTensor(t):
		data := v.Field(0)
		if data.Len() > 0 {
			x.data = unsafe.Slice((*byte)(data.UnsafePointer()), data.Len()*x.port.size)
		}
		x.shape = v.Field(1).Interface().([]int)
	case t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice:
		reflect.NewAt(t, unsafe.Pointer(unsafe.SliceData(x.data))).Elem().Set(v)
	}
}

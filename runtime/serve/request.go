package serve

import (
	"io"
	"strconv"
	"time"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

type request struct {
	method *untyped.Method
	id     string
	// a tensor for each input of the method, in order
	in []untyped.Tensor
	// requested outputs; all outputs if empty
	wanted []wanted
	// outputs follow the JSON in binary form, unless they say otherwise
	binary   bool
	timeout  time.Duration // 0 without one
	sequence sequenceID
}

type wanted struct {
	index int
	// the output is wanted in binary form; valid if set is true
	binary, set bool
}

// sequenceID is the sequence to which a request belongs. id is "" if the request does not belong to
// a sequence.
type sequenceID struct {
	id         string
	start, end bool
}

// maxText is the largest length in bytes of a name or of a parameter's value. A request with a
// longer one is an error.
const maxText = 4096

// decoder decodes the body of a request.
type decoder struct {
	*scanner
	method *untyped.Method
	// given[i] says whether input i was in the request.
	given []bool
	// rest[i] is the size in bytes of input i if it follows the JSON in binary form, else -1.
	rest []int
	// the inputs that follow the JSON, in the order of their data
	order []int
	out   request
}

// decodeRequest decodes a request from an HTTP body. `header` is the length in bytes of the JSON
// that precedes binary tensors, or -1 if the whole body is JSON. The allocated memory is
// proportional to the bytes that are received, whatever sizes the body declares.
func decodeRequest(m *untyped.Method, body io.Reader, header int64) (*request, error) {
	text := body
	if header >= 0 {
		text = io.LimitReader(body, header)
	}
	d := &decoder{scanner: newScanner(text), method: m, given: make([]bool, len(m.In)), rest: make([]int, len(m.In))}
	defer d.free()
	d.out = request{method: m, in: make([]untyped.Tensor, len(m.In))}
	if err := d.request(); err != nil {
		return nil, err
	}
	for i, ok := range d.given {
		if !ok {
			return nil, badRequest("input %q is missing", m.In[i].Name)
		}
	}
	for _, i := range d.order {
		if header < 0 {
			return nil, badRequest("input %q has binary_data_size, and the request does not have the header Inference-Header-Content-Length", m.In[i].Name)
		}
		if err := readBinary(&d.out.in[i], body, d.rest[i]); err != nil {
			return nil, err
		}
	}
	if header >= 0 {
		if n, err := body.Read(make([]byte, 1)); n > 0 || err != nil && err != io.EOF {
			return nil, orElse(torn(err), badRequest("bytes after the last input"))
		}
	}
	return &d.out, checkShapes(d.out.in)
}

// checkShapes returns an error unless the shapes match their ports and agree in the ports' symbols.
func checkShapes(in []untyped.Tensor) error {
	if err := untyped.CheckShapes(in); err != nil {
		return badRequest("%v", err)
	}
	return nil
}

func (d *decoder) request() error {
	inputs := false
	err := d.object(func(key string) (err error) {
		switch key {
		case "id":
			var text []byte
			text, err = d.str(maxText)
			d.out.id = string(text)
		case "parameters":
			err = d.parameters(d.out.parameter)
		case "inputs":
			inputs = true
			err = d.array(d.input)
		case "outputs":
			err = d.array(d.output)
		default:
			err = d.skip(maxText)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !inputs:
		return badRequest("the request has no inputs")
	}
	return d.ends()
}

// parameters reads an object and calls set for each string, number, truth value and null in it. It
// skips other values.
func (d *decoder) parameters(set func(name string, v any) error) error {
	return d.object(func(name string) error {
		switch c, err := d.peek(); {
		case err != nil:
			return err
		case c == '{' || c == '[':
			return d.skip(maxText)
		}
		v, err := d.scalar(maxText)
		if err != nil {
			return err
		}
		return set(name, v)
	})
}

// parameter sets a parameter of the request. It ignores unknown parameters.
func (q *request) parameter(name string, v any) (err error) {
	switch name {
	case "binary_data_output":
		q.binary, err = truth(name, v)
	case "timeout":
		var us int64
		if us, err = whole(name, v); err == nil {
			q.timeout = time.Duration(min(us, int64(time.Hour/time.Microsecond))) * time.Microsecond
		}
	case "sequence_id":
		q.sequence.id, err = sequenceName(v)
	case "sequence_start":
		q.sequence.start, err = truth(name, v)
	case "sequence_end":
		q.sequence.end, err = truth(name, v)
	}
	return err
}

// sequenceName returns v, a string or an integer, as the id of a sequence. For "" and 0, which mean
// no sequence, it returns "".
func sequenceName(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	n, err := whole("sequence_id", v)
	if err != nil || n == 0 {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

func truth(name string, v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, badRequest("parameter %q is %v, want true or false", name, v)
	}
	return b, nil
}

func whole(name string, v any) (int64, error) {
	n, ok := v.(int64)
	if !ok || n < 0 {
		return 0, badRequest("parameter %q is %v, want a whole number of at least 0", name, v)
	}
	return n, nil
}

func (d *decoder) input() error {
	index, size, data := -1, -1, false
	var shape []int
	var typed string
	var early []byte // data that comes before the name
	err := d.object(func(key string) error {
		switch key {
		case "name":
			text, err := d.str(maxText)
			if err != nil {
				return err
			}
			if index, err = d.find(string(text)); err != nil {
				return err
			}
			if d.given[index] {
				return badRequest("input %q occurs twice", text)
			}
			d.given[index] = true
			return nil
		case "datatype":
			text, err := d.str(maxText)
			typed = string(text)
			return err
		case "shape":
			var err error
			shape, err = d.shape()
			return err
		case "parameters":
			return d.parameters(func(name string, v any) error {
				switch name {
				case "binary_data_size":
					n, err := whole(name, v)
					if int64(int(n)) != n {
						err = badRequest("parameter %q is %d, which is too large", name, n)
					}
					size = int(n)
					return err
				case "shared_memory_region":
					return badRequest("the server does not read shared memory")
				}
				return nil
			})
		case "data":
			data = true
			if index < 0 {
				var err error
				early, err = d.raw()
				return err
			}
			return d.data(&d.out.in[index], d.method.In[index])
		}
		return d.skip(maxText)
	})
	switch {
	case err != nil:
		return err
	case index < 0:
		return badRequest("an input has no name")
	}
	p, x := d.method.In[index], &d.out.in[index]
	x.Port, x.Shape = p, shape
	switch {
	case shape == nil:
		return badRequest("input %q has no shape", p.Name)
	case typed != datatypeOf(p.DType):
		return badRequest("input %q has datatype %q, want %q", p.Name, typed, datatypeOf(p.DType))
	case data == (size >= 0):
		return badRequest("input %q needs either data or binary_data_size", p.Name)
	case early != nil:
		if err := d.dataOf(x, p, early); err != nil {
			return err
		}
	}
	n, err := untyped.Elements(shape, p.Size)
	if err != nil {
		return badRequest("input %q: %v", p.Name, err)
	}
	if size >= 0 {
		if !p.IsText() && size != n*p.Size {
			return badRequest("input %q has binary_data_size %d, want %d for shape %v", p.Name, size, n*p.Size, shape)
		}
		d.rest[index], d.order = size, append(d.order, index)
		return nil
	}
	if x.Len() != n {
		return badRequest("input %q has %d elements of data, want %d for shape %v", p.Name, x.Len(), n, shape)
	}
	return nil
}

func (d *decoder) find(name string) (int, error) {
	for i, p := range d.method.In {
		if p.Name == name {
			return i, nil
		}
	}
	return 0, badRequest("model %q has no input %q", d.method.Label, name)
}

const maxRank = 32

func (d *decoder) shape() ([]int, error) {
	shape := []int{}
	err := d.array(func() error {
		if len(shape) == maxRank {
			return badRequest("a shape has more than %d dimensions", maxRank)
		}
		n, err := d.integer("a dimension")
		shape = append(shape, n)
		return err
	})
	return shape, err
}

func (d *decoder) output() error {
	w := wanted{index: -1}
	err := d.object(func(key string) error {
		switch key {
		case "name":
			text, err := d.str(maxText)
			if err != nil {
				return err
			}
			for i, p := range d.method.Out {
				if p.Name == string(text) {
					w.index = i
				}
			}
			if w.index < 0 {
				return badRequest("model %q has no output %q", d.method.Label, text)
			}
			return nil
		case "parameters":
			return d.parameters(func(name string, v any) (err error) {
				switch name {
				case "binary_data":
					w.set = true
					w.binary, err = truth(name, v)
				case "shared_memory_region", "classification":
					err = badRequest("the server does not have the parameter %q of outputs", name)
				}
				return err
			})
		}
		return d.skip(maxText)
	})
	if err != nil {
		return err
	}
	if w.index < 0 {
		return badRequest("an output has no name")
	}
	for _, other := range d.out.wanted {
		if other.index == w.index {
			return badRequest("output %q occurs twice", d.method.Out[w.index].Name)
		}
	}
	d.out.wanted = append(d.out.wanted, w)
	return nil
}

package serve

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// modelVersion is the version of every model. A server has only one version.
const modelVersion = "1"

// answer is an encoded response: JSON, then binary tensors.
type answer struct {
	body []byte
	// length in bytes of the JSON, or -1 if there are no binary tensors
	header int
}

// encode encodes the results of a request. It returns an error if a result in JSON has NaN or
// infinities, which JSON cannot represent.
func (q *request) encode(out []untyped.Tensor) (*answer, error) {
	list := q.wanted
	if len(list) == 0 {
		for i := range out {
			list = append(list, wanted{index: i})
		}
	}
	b := append(make([]byte, 0, 1024), `{"model_name":`...)
	b = appendText(b, q.method.Label)
	b = append(b, `,"model_version":"`+modelVersion+`"`...)
	if q.id != "" {
		b = appendText(append(b, `,"id":`...), q.id)
	}
	b = append(b, `,"outputs":[`...)
	var rest []byte
	isBinary := false
	for i, w := range list {
		x := &out[w.index]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), x.Port.Name)
		b = append(b, `,"datatype":"`+datatypeOf(x.Port.DType)+`","shape":[`...)
		for i, n := range x.Shape {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
		if w.binary || !w.set && q.binary {
			at := len(rest)
			rest, isBinary = appendBinary(rest, x), true
			b = append(b, `],"parameters":{"binary_data_size":`...)
			b = append(strconv.AppendInt(b, int64(len(rest)-at), 10), "}}"...)
			continue
		}
		b = append(b, `],"data":[`...)
		var err error
		if b, err = appendJSON(b, x); err != nil {
			return nil, err
		}
		b = append(b, "]}"...)
	}
	b = append(b, "]}"...)
	if !isBinary {
		return &answer{b, -1}, nil
	}
	return &answer{append(b, rest...), len(b)}, nil
}

func appendText(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text)
	return append(b, quoted...)
}

// appendJSON appends the elements of a tensor, separated by commas.
func appendJSON(b []byte, x *untyped.Tensor) ([]byte, error) {
	float := func(f float64, bits int) error {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return errorf(http.StatusUnprocessableEntity, "output %q has %v, which JSON does not have: ask for binary_data", x.Port.Name, f)
		}
		b = strconv.AppendFloat(b, f, 'g', -1, bits)
		return nil
	}
	each := func(n int, element func(i int) error) error {
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			if err := element(i); err != nil {
				return err
			}
		}
		return nil
	}
	n := x.Len()
	var err error
	switch x.Port.DType {
	case "string":
		err = each(n, func(i int) error {
			if !utf8.ValidString(x.Texts[i]) {
				return errorf(http.StatusUnprocessableEntity, "output %q is not UTF-8: ask for binary_data", x.Port.Name)
			}
			b = appendText(b, x.Texts[i])
			return nil
		})
	case "bool":
		err = each(n, func(i int) error { b = strconv.AppendBool(b, x.Data[i] != 0); return nil })
	case "f64":
		list := untyped.View[float64](x.Data)
		err = each(n, func(i int) error { return float(list[i], 64) })
	case "f32":
		list := untyped.View[float32](x.Data)
		err = each(n, func(i int) error { return float(float64(list[i]), 32) })
	case "f16":
		list := untyped.View[rt.Float16](x.Data)
		err = each(n, func(i int) error { return float(float64(list[i].Float32()), 32) })
	case "bf16":
		list := untyped.View[rt.BFloat16](x.Data)
		err = each(n, func(i int) error { return float(float64(list[i].Float32()), 32) })
	default:
		err = each(n, func(i int) error { b = appendInteger(b, x.Data[i*x.Port.Size:], x.Port.DType); return nil })
	}
	return b, err
}

// appendInteger appends the integer at the start of data in decimal.
func appendInteger(b, data []byte, dtype string) []byte {
	switch dtype {
	case "i8":
		return strconv.AppendInt(b, int64(untyped.View[int8](data[:1])[0]), 10)
	case "i16":
		return strconv.AppendInt(b, int64(untyped.View[int16](data[:2])[0]), 10)
	case "i32":
		return strconv.AppendInt(b, int64(untyped.View[int32](data[:4])[0]), 10)
	case "i64":
		return strconv.AppendInt(b, untyped.View[int64](data[:8])[0], 10)
	case "u8":
		return strconv.AppendUint(b, uint64(data[0]), 10)
	case "u16":
		return strconv.AppendUint(b, uint64(untyped.View[uint16](data[:2])[0]), 10)
	case "u32":
		return strconv.AppendUint(b, uint64(untyped.View[uint32](data[:4])[0]), 10)
	}
	return strconv.AppendUint(b, untyped.View[uint64](data[:8])[0], 10)
}

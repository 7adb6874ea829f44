package serve

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/burngen/burngen/runtime/rt"
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
func (q *request) encode(out []tensor) (*answer, error) {
	list := q.wanted
	if len(list) == 0 {
		for i := range out {
			list = append(list, wanted{index: i})
		}
	}
	b := append(make([]byte, 0, 1024), `{"model_name":`...)
	b = appendText(b, q.method.label)
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
		b = appendText(append(b, `{"name":`...), x.port.label)
		b = append(b, `,"datatype":"`+x.port.name+`","shape":[`...)
		for i, n := range x.shape {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
		if w.binary || !w.set && q.binary {
			at := len(rest)
			rest, isBinary = x.appendBinary(rest), true
			b = append(b, `],"parameters":{"binary_data_size":`...)
			b = append(strconv.AppendInt(b, int64(len(rest)-at), 10), "}}"...)
			continue
		}
		b = append(b, `],"data":[`...)
		var err error
		if b, err = x.appendJSON(b); err != nil {
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
func (x *tensor) appendJSON(b []byte) ([]byte, error) {
	float := func(f float64, bits int) error {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return errorf(http.StatusUnprocessableEntity, "output %q has %v, which JSON does not have: ask for binary_data", x.port.label, f)
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
	n := x.len()
	var err error
	switch x.port.name {
	case "BYTES":
		err = each(n, func(i int) error {
			if !utf8.ValidString(x.texts[i]) {
				return errorf(http.StatusUnprocessableEntity, "output %q is not UTF-8: ask for binary_data", x.port.label)
			}
			b = appendText(b, x.texts[i])
			return nil
		})
	case "BOOL":
		err = each(n, func(i int) error { b = strconv.AppendBool(b, x.data[i] != 0); return nil })
	case "FP64":
		list := view[float64](x.data)
		err = each(n, func(i int) error { return float(list[i], 64) })
	case "FP32":
		list := view[float32](x.data)
		err = each(n, func(i int) error { return float(float64(list[i]), 32) })
	case "FP16":
		list := view[rt.Float16](x.data)
		err = each(n, func(i int) error { return float(float64(list[i].Float32()), 32) })
	case "BF16":
		list := view[rt.BFloat16](x.data)
		err = each(n, func(i int) error { return float(float64(list[i].Float32()), 32) })
	default:
		err = each(n, func(i int) error { b = appendInteger(b, x.data[i*x.port.size:], x.port.datatype); return nil })
	}
	return b, err
}

// appendInteger appends the integer at the start of data in decimal.
func appendInteger(b, data []byte, d datatype) []byte {
	switch d.name {
	case "INT8":
		return strconv.AppendInt(b, int64(view[int8](data[:1])[0]), 10)
	case "INT16":
		return strconv.AppendInt(b, int64(view[int16](data[:2])[0]), 10)
	case "INT32":
		return strconv.AppendInt(b, int64(view[int32](data[:4])[0]), 10)
	case "INT64":
		return strconv.AppendInt(b, view[int64](data[:8])[0], 10)
	case "UINT8":
		return strconv.AppendUint(b, uint64(data[0]), 10)
	case "UINT16":
		return strconv.AppendUint(b, uint64(view[uint16](data[:2])[0]), 10)
	case "UINT32":
		return strconv.AppendUint(b, uint64(view[uint32](data[:4])[0]), 10)
	}
	return strconv.AppendUint(b, view[uint64](data[:8])[0], 10)
}

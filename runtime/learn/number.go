package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 that JSON can hold. In JSON, a number that is not finite is one of the
// strings "NaN", "+Inf" and "-Inf".
type Number float64

// appendJSON appends n in JSON. NaN and infinities become strings.
func (n Number) appendJSON(dst []byte) []byte {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(strconv.AppendFloat(append(dst, '"'), x, 'g', -1, 64), '"')
	}
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) { return n.appendJSON(nil), nil }

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return json.Unmarshal(text, (*float64)(n))
	}
	switch s {
	case "NaN":
		*n = Number(math.NaN())
	case "+Inf":
		*n = Number(math.Inf(1))
	case "-Inf":
		*n = Number(math.Inf(-1))
	default:
		return fmt.Errorf("%q is not a number", s)
	}
	return nil
}

package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// element converts elements of a type to text and back.
type element struct {
	width int // in bytes

	// float returns the value of an element from its bits. It is nil for integers and bools.
	float func(bits uint64) float64

	// print appends the text of an element, which is stored little-endian.
	print func(dst, raw []byte) []byte

	// parse appends the stored form of the value of a token.
	parse func(dst []byte, t token) ([]byte, error)
}

// elements is keyed by element type. It has the types whose elements may be written as numbers or
// bools.
var elements = map[string]element{
	"f64": floats(8, 64, math.Float64frombits, math.Float64bits),
	"f32": floats(4, 32,
		func(bits uint64) float64 { return float64(math.Float32frombits(uint32(bits))) },
		func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }),
	"f16": floats(2, 32,
		func(bits uint64) float64 { return float64(rt.Float16(bits).Float32()) },
		func(x float64) uint64 { return uint64(rt.ToFloat16(float32(x))) }),
	"bf16": floats(2, 32,
		func(bits uint64) float64 { return float64(rt.BFloat16(bits).Float32()) },
		func(x float64) uint64 { return uint64(rt.ToBFloat16(float32(x))) }),
	"i64": integers(8, true), "i32": integers(4, true), "i16": integers(2, true), "i8": integers(1, true),
	"u64": integers(8, false), "u32": integers(4, false), "u16": integers(2, false), "u8": integers(1, false),
	"bool": {width: 1, print: printBool, parse: parseBool},
}

// floats returns the element for a floating-point type of width bytes. A value is printed with the
// fewest digits from which a float of `precision` bits can be read back exactly. Values that are
// not finite are the texts "inf", "-inf" and "nan". A NaN with other bits than the usual ones is
// "nan:" followed by its bits in hexadecimal.
func floats(width, precision int, value func(uint64) float64, bitsOf func(float64) uint64) element {
	nan := bitsOf(math.NaN())
	return element{
		width: width,
		float: value,
		print: func(dst, raw []byte) []byte {
			bits := littleEndian(raw)
			switch x := value(bits); {
			case math.IsInf(x, 1):
				return append(dst, `"inf"`...)
			case math.IsInf(x, -1):
				return append(dst, `"-inf"`...)
			case x == x:
				return strconv.AppendFloat(dst, x, 'g', -1, precision)
			case bits == nan:
				return append(dst, `"nan"`...)
			default:
				return fmt.Appendf(dst, `"nan:%0*x"`, 2*width, bits)
			}
		},
		parse: func(dst []byte, t token) ([]byte, error) {
			if t.kind != text {
				x, err := t.float(precision)
				bits := bitsOf(x)
				if err == nil && math.IsInf(value(bits), 0) && !math.IsInf(x, 0) {
					err = fmt.Errorf("%v does not fit %d bytes", x, width)
				}
				return appendLittleEndian(dst, bits, width), err
			}
			switch digits, isNaN := strings.CutPrefix(string(t.text), "nan:"); {
			case isNaN:
				bits, err := strconv.ParseUint(digits, 16, 8*width)
				if x := value(bits); err != nil || x == x {
					return dst, fmt.Errorf("%.100q is not a float", t.text)
				}
				return appendLittleEndian(dst, bits, width), nil
			case digits == "nan":
				return appendLittleEndian(dst, nan, width), nil
			case digits == "inf":
				return appendLittleEndian(dst, bitsOf(math.Inf(1)), width), nil
			case digits == "-inf":
				return appendLittleEndian(dst, bitsOf(math.Inf(-1)), width), nil
			}
			return dst, fmt.Errorf("%.100q is not a float", t.text)
		},
	}
}

func integers(width int, signed bool) element {
	unused := 64 - 8*width
	return element{
		width: width,
		print: func(dst, raw []byte) []byte {
			bits := littleEndian(raw)
			if signed {
				return strconv.AppendInt(dst, int64(bits<<unused)>>unused, 10)
			}
			return strconv.AppendUint(dst, bits, 10)
		},
		parse: func(dst []byte, t token) ([]byte, error) {
			bits, negative, err := t.integer()
			if err != nil {
				return dst, err
			}
			fits := !negative && bits<<unused>>unused == bits
			if signed {
				fits = int64(bits<<unused)>>unused == int64(bits) && negative == (int64(bits) < 0)
			}
			if !fits {
				return dst, fmt.Errorf("an integer does not fit %d bytes", width)
			}
			return appendLittleEndian(dst, bits, width), nil
		},
	}
}

func printBool(dst, raw []byte) []byte {
	if raw[0] > 1 {
		return strconv.AppendUint(dst, uint64(raw[0]), 10)
	}
	return strconv.AppendBool(dst, raw[0] == 1)
}

func parseBool(dst []byte, t token) ([]byte, error) {
	if t.kind == boolean {
		return append(dst, byte(t.bits)), nil
	}
	bits, negative, err := t.integer()
	if err == nil && (negative || bits < 2 || bits > math.MaxUint8) {
		err = errors.New("want a bool")
	}
	return append(dst, byte(bits)), err
}

// littleEndian returns the number in raw, which has at most 8 bytes.
func littleEndian(raw []byte) (x uint64) {
	for i, c := range raw {
		x |= uint64(c) << (8 * i)
	}
	return x
}

// appendLittleEndian appends the low width bytes of x.
func appendLittleEndian(dst []byte, x uint64, width int) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], x)
	return append(dst, all[:width]...)
}

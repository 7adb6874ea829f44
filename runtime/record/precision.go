package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Precision is the width of floats and signed integers in a record. Reading converts them back to the
// types that they had.
type Precision uint8

// These are the precisions of the numbers in a record. The value of a signed integer never changes: if one of a
// tensor's integers does not fit the precision, the tensor keeps its type. A finite float that would become
// infinite is an error. Bools, unsigned integers, and all numbers of 8 bits or less keep their types.
const (
	AsIs   Precision = iota
	Double           // f64, i64
	Full             // f32, i32
	Half             // f16, i16
)

// precisions is indexed by [Precision]. It has the types in which floats and integers are stored.
var precisions = [...]struct{ name, float, integer string }{
	AsIs:   {"as is", "", ""},
	Double: {"double", "f64", "i64"},
	Full:   {"full", "f32", "i32"},
	Half:   {"half", "f16", "i16"},
}

// String returns the precision's name.
func (p Precision) String() string {
	if int(p) >= len(precisions) {
		return fmt.Sprintf("precision %d", uint8(p))
	}
	return precisions[p].name
}

// apply returns weights converted to the precision. Their metadata records the original types.
func (p Precision) apply(w *rt.Weights) (*rt.Weights, error) {
	if int(p) >= len(precisions) {
		return nil, fmt.Errorf("%v is none", p)
	}
	same := map[string]string{}
	for _, name := range w.Names() {
		same[name] = name
	}
	stored, err := w.Renamed(same)
	if err != nil {
		return nil, err
	}
	stored.DropMetadata(notePrefix)
	types := map[string]string{}
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		to, err := p.typeOf(info, w)
		if err != nil {
			stored.Close()
			return nil, err
		}
		if to != info.DType {
			types[name] = to
			stored.SetMetadata(noteType+name, info.DType)
		}
	}
	if err := stored.Convert(types); err != nil {
		stored.Close()
		return nil, err
	}
	return stored, nil
}

// typeOf returns the type in which a tensor is stored. A tensor of integers keeps its type if one of them does not
// fit the precision. It is an error if a finite float does not fit.
func (p Precision) typeOf(info rt.Info, w *rt.Weights) (string, error) {
	to := precisions[p]
	switch info.DType {
	case to.float, to.integer:
	case "i64", "i32", "i16":
		if to.integer != "" && fits(w.RawOnce(info.Name), elements[info.DType].width, elements[to.integer].width) {
			return to.integer, nil
		}
	case "f64", "f32", "f16", "bf16":
		if to.float == "" {
			break
		}
		if x, over := beyond(w.RawOnce(info.Name), info.DType, to.float); over {
			return "", fmt.Errorf("%.100q: %v does not fit %s", info.Name, x, to.float)
		}
		return to.float, nil
	}
	return info.DType, w.Err()
}

// fits reports whether all signed integers in raw fit into `target` bytes. Each takes `width` bytes in raw.
func fits(raw []byte, width, target int) bool {
	for at := 0; at < len(raw) && target < width; at += width {
		x := int64(littleEndian(raw[at:][:width])<<(64-8*width)) >> (64 - 8*width)
		if unused := 64 - 8*target; x<<unused>>unused != x {
			return false
		}
	}
	return true
}

// most maps a type to the largest float64 that does not round to infinity in this type.
var most = map[string]float64{
	"f64": math.MaxFloat64,
	"f32": math.Nextafter(0x1.ffffffp127, 0),
	"f16": math.Nextafter(65520, 0),
}

// beyond returns the first finite float in raw that becomes infinite in the type `to`, and true. It returns false
// if there is no such float. dtype is the type of raw.
func beyond(raw []byte, dtype, to string) (float64, bool) {
	if wide := []string{"f16", "f32", "f64"}; slices.Index(wide, to) >= slices.Index(wide, dtype) && dtype != "bf16" {
		return 0, false
	}
	width, limit := elements[dtype].width, most[to]
	for at := 0; at < len(raw); at += width {
		x := elements[dtype].float(littleEndian(raw[at:][:width]))
		if math.Abs(x) > limit && !math.IsInf(x, 0) {
			return x, true
		}
	}
	return 0, false
}

package ir

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"math"
	"reflect"

	"github.com/burngen/burngen/ir/dim"
)

// [Hash] reads at most the first hashedElems elements of a tensor.
const hashedElems = 1024

// Hash returns a hash of op. Operators that are [Equal] have equal hashes.
func Hash(op Op) uint64 {
	h := hasher{fnv.New64a()}
	h.text(OpName(op))
	h.attr(reflect.ValueOf(op))
	return h.Sum64()
}

type hasher struct{ hash.Hash64 }

func (h hasher) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

func (h hasher) text(s string) {
	h.number(uint64(len(s)))
	h.Write([]byte(s))
}

func (h hasher) attr(x reflect.Value) {
	switch a := x.Interface().(type) {
	case dim.Dim:
		h.dim(a)
		return
	case Type:
		h.typ(a)
		return
	case *Tensor:
		h.tensor(a)
		return
	}
	switch x.Kind() {
	case reflect.Bool:
		if x.Bool() {
			h.number(1)
		} else {
			h.number(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.number(uint64(x.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		h.number(x.Uint())
	case reflect.Float32, reflect.Float64:
		h.number(math.Float64bits(x.Float()))
	case reflect.String:
		h.text(x.String())
	case reflect.Slice:
		h.number(uint64(x.Len()))
		for i := range x.Len() {
			h.attr(x.Index(i))
		}
	case reflect.Struct:
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() {
				h.attr(x.Field(i))
			}
		}
	}
}

func (h hasher) dim(d dim.Dim) {
	if n, ok := d.Int64(); ok {
		h.number(uint64(n))
		return
	}
	h.text(d.String())
}

func (h hasher) typ(t Type) {
	h.number(uint64(t.Kind))
	h.number(uint64(t.DType))
	h.number(uint64(len(t.Shape)))
	for _, d := range t.Shape {
		h.dim(d)
	}
	if t.Elem != nil {
		h.typ(*t.Elem)
	}
}

// tensor adds the kind, type, shape and first elements of a tensor to the hash. For a container it adds only the
// kind.
func (h hasher) tensor(t *Tensor) {
	if t == nil {
		return
	}
	h.number(uint64(t.Kind))
	if t.Kind != TensorKind {
		return
	}
	h.number(uint64(t.DType))
	h.number(uint64(len(t.Shape)))
	for _, n := range t.Shape {
		h.number(uint64(n))
	}
	for i := range min(t.Len(), hashedElems) {
		switch {
		case t.DType == String:
			h.text(t.Text(i))
		case !t.DType.IsFloat():
			h.number(uint64(t.Int(i)))
		case t.Float(i) == t.Float(i): // all NaNs are equal
			h.number(math.Float64bits(t.Float(i)))
		}
	}
}

package pickle

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
)

// Value is one of these:
//
//   - nil, bool, int64, float64, string or [Bytes]
//   - *[big.Int], for an integer beyond 64 bits
//   - *[Tuple], *[List], *[Dict], *[Set] or *[Class]
//   - a value that [Reader.Persistent] or [Class.New] returned
//
// A container may contain itself.
type Value = any

// Bytes is a bytes or bytearray object.
type Bytes []byte

// Tuple is a tuple.
type Tuple struct{ Items []Value }

// List is a list.
type List struct{ Items []Value }

// Set is a set or a frozenset. Items are in the order in which they were added.
type Set struct{ Items []Value }

// Dict is a dict: Values[i] belongs to Keys[i]. Keys are in the order in which they were first set.
type Dict struct {
	Keys, Values []Value

	at map[Value]int // index of each key; nil while there are few keys
}

// Class is a name that [Reader.Global] knows.
type Class struct {
	Module, Name string

	// New creates a value from arguments. If it is nil, the name may be mentioned but not called.
	New func(args []Value) (Value, error)
}

// String returns the module and the name, quoted, for errors.
func (c *Class) String() string { return fmt.Sprintf("%.100q", c.Module+"."+c.Name) }

// CallError is the error for a pickle that calls a class whose New is nil.
type CallError struct{ Class *Class }

func (e *CallError) Error() string { return fmt.Sprintf("%v must not be called", e.Class) }

// Stateful is a value that has a state, which a BUILD opcode sets.
type Stateful interface{ SetState(state Value) error }

const manyKeys = 8

// Get returns the value of a key and whether the key exists.
func (d *Dict) Get(key Value) (Value, bool) {
	if i := d.find(key); i >= 0 {
		return d.Values[i], true
	}
	return nil, false
}

// Set sets the value of a key. Two keys are the same if they are numbers, strings or bytes that are
// equal in Python: 1, 1.0 and True are the same key. Other objects, such as tuples, are the same key
// only if they are the same object.
func (d *Dict) Set(key, value Value) {
	if i := d.find(key); i >= 0 {
		d.Values[i] = value
		return
	}
	if d.at != nil {
		d.at[hashable(key)] = len(d.Keys)
	}
	d.Keys, d.Values = append(d.Keys, key), append(d.Values, value)
	if d.at == nil && len(d.Keys) > manyKeys {
		d.at = make(map[Value]int, 2*manyKeys)
		for i, k := range d.Keys {
			d.at[hashable(k)] = i
		}
	}
}

func (d *Dict) find(key Value) int {
	key = hashable(key)
	if d.at != nil {
		if i, ok := d.at[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.Keys {
		if hashable(k) == key {
			return i
		}
	}
	return -1
}

// SetState implements [Stateful]. It ignores the state, which holds the attributes of a subclass of
// dict.
func (d *Dict) SetState(Value) error { return nil }

// digest stands for a Bytes, or an integer beyond 64 bits, in a Go map of keys. Its size does not
// depend on the key, because many dicts may have the same long key.
type digest struct {
	kind kind
	sum  [sha256.Size]byte
}

type kind uint8

const (
	bytesKind kind = iota
	positiveKind
	negativeKind
)

// hashable returns a comparable value that stands for key in a Go map. Numbers, strings and bytes
// that are equal in Python have equal values. Any other key stands for itself. The value takes
// little memory in addition to the memory of key.
func hashable(key Value) Value {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if k == math.Trunc(k) && !math.IsInf(k, 0) {
			n, _ := big.NewFloat(k).Int(nil)
			return hashable(small(n))
		}
		return math.Float64bits(k) // a NaN is equal to itself, as the same object is in Python
	case Bytes:
		return digest{bytesKind, sha256.Sum256(k)}
	case *big.Int:
		d := digest{kind: positiveKind}
		if k.Sign() < 0 {
			d.kind = negativeKind
		}
		h := sha256.New()
		var word [8]byte
		for _, w := range k.Bits() {
			binary.LittleEndian.PutUint64(word[:], uint64(w))
			h.Write(word[:])
		}
		h.Sum(d.sum[:0])
		return d
	}
	return key
}

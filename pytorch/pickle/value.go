package pickle

import (
	"fmt"
	"math"
	"math/big"
)

// Values are nil, bool, int64, *[big.Int] for integers beyond 64 bits, float64,
// string, [Bytes], *[Tuple], *[List], *[Dict], *[Set], *[Class], and whatever
// [Reader.Persistent] and [Class.New] returned. A container may hold itself.
type Value = any

// Bytes is a bytes or bytearray object.
type Bytes []byte

// Tuple is a tuple.
type Tuple struct{ Items []Value }

// List is a list.
type List struct{ Items []Value }

// Set is a set or a frozenset, with the items as they were added.
type Set struct{ Items []Value }

// Dict is a dict: Values[i] belongs to Keys[i]. Keys are in the order in which
// they were first set.
type Dict struct {
	Keys, Values []Value

	at map[Value]int // where keys are, once there are many
}

// Class is a name that [Reader.Global] knows.
type Class struct {
	Module, Name string

	// New makes a value of arguments. Nil: the name may be mentioned, not called.
	New func(args []Value) (Value, error)
}

// String returns the module and the name, quoted, for errors.
func (c *Class) String() string { return fmt.Sprintf("%.100q", c.Module+"."+c.Name) }

// CallError is the error of a pickle that calls a class without [Class.New].
type CallError struct{ Class *Class }

func (e *CallError) Error() string { return fmt.Sprintf("%v must not be called", e.Class) }

// Stateful is a value that takes what BUILD gives it.
type Stateful interface{ SetState(state Value) error }

// manyKeys is how many keys of a dict are looked for one after the other.
const manyKeys = 8

// Get returns the value of a key and reports whether there is one.
func (d *Dict) Get(key Value) (Value, bool) {
	if i := d.find(key); i >= 0 {
		return d.Values[i], true
	}
	return nil, false
}

// Set sets the value of a key. Keys that are equal in Python are one key: 1, 1.0
// and True. Tuples and other objects are equal to themselves only.
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

// find returns where a key is, -1 if it is not there.
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

// SetState takes the attributes of a subclass of dict, which are not kept.
func (d *Dict) SetState(Value) error { return nil }

// bytesKey is a bytes object as a key, which differs from the string of its bytes.
type bytesKey string

// hashable returns what stands for a key in comparisons.
func hashable(key Value) Value {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int64(k)
		}
		return math.Float64bits(k) // equal to itself, as one object is in Python
	case Bytes:
		return bytesKey(k)
	case *big.Int:
		return k.String()
	}
	return key
}

package record

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// A named record of burn, up to version 0.21, is a table of "metadata" and "item". "metadata" has
// five texts. "item" has the fields of the module: tables for modules, lists for vectors of
// modules, null for constants. A parameter is a table with "id" and "param", which is a tensor. A
// tensor is a table with "bytes", "shape" and "dtype". Before version 0.14, it is a table with
// "shape" and a list of numbers called "value".
const (
	keyBurnMetadata = "metadata"
	keyBurnItem     = "item"
)

var burnTypes = map[string]string{
	"F64": "f64", "F32": "f32", "Flex32": "f32", "F16": "f16", "BF16": "bf16",
	"I64": "i64", "I32": "i32", "I16": "i16", "I8": "i8",
	"U64": "u64", "U32": "u32", "U16": "u16", "U8": "u8",
	"Bool": "bool",
}

type burnMetadata struct{ float, int, format, version, settings string }

func (m *burnMetadata) field(name string) *string {
	switch name {
	case "float":
		return &m.float
	case "int":
		return &m.int
	case "format":
		return &m.format
	case "version":
		return &m.version
	case "settings":
		return &m.settings
	}
	return nil
}

// rustTypes maps the names of Rust's types to element types.
var rustTypes = map[string]string{
	"f64": "f64", "f32": "f32", "half::binary16::f16": "f16", "half::bfloat::bf16": "bf16",
	"i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8",
}

type burn struct {
	*walker
	weights *rt.Weights
	names   *names
	said    burnMetadata
}

// readBurn adds the tensors of a record to w. top is the start of the record's table, whose first
// key, "metadata", has been read.
func readBurn(r *walker, top token, w *rt.Weights, n *names) error {
	w.SetMetadata(noteNoSum, "true")
	b := &burn{walker: r, weights: w, names: n}
	t, err := b.expect(table)
	if err != nil {
		return err
	}
	err = b.fields(t, 0, func(key string) error {
		field := b.said.field(key)
		if field == nil {
			return b.skipNext()
		}
		*field, err = b.expectText()
		return err
	})
	if err != nil {
		return err
	}
	if err := b.expectKey(top, 1, keyBurnItem); err != nil {
		return err
	}
	if err := b.value(""); err != nil {
		return err
	}
	if err := b.fields(top, 2, func(string) error { return b.skipNext() }); err != nil { // a marker of burn's backend
		return err
	}
	return b.end()
}

func (b *burn) value(name string) error {
	t, err := b.next()
	if err != nil {
		return err
	}
	return b.rest(name, t)
}

// rest reads the value whose first token is t, and adds the tensors in this value to the weights.
// Their names begin with `name`.
func (b *burn) rest(name string, t token) error {
	switch t.kind {
	case list:
		return b.items(t, func(i int) error {
			t, err := b.next()
			if err != nil || t.kind < list {
				return err
			}
			return b.below(name, strconv.Itoa(i), t)
		})
	case table:
		return b.table(name, t)
	}
	return nil
}

// below reads the tensors in a list or a table, and adds them under the name that joins `name`
// and `key`. t is the first token. A t of another kind is ignored.
func (b *burn) below(name, key string, t token) error {
	if t.kind < list {
		return nil
	}
	name, err := b.names.join(name, key)
	if err != nil {
		return b.at("%w", err)
	}
	return b.rest(name, t)
}

// table reads a table. Its first pair decides whether it is a parameter, a tensor or a module.
func (b *burn) table(name string, t token) error {
	if err := b.enter(); err != nil {
		return err
	}
	defer b.leave()
	more, err := b.more(t, 0)
	if err != nil || !more {
		return err
	}
	key, err := b.key()
	if err != nil {
		return err
	}
	first, err := b.next()
	if err != nil {
		return err
	}
	isTensor := false
	switch {
	case key == "id" && first.kind == text:
		return b.param(name, t)
	case key == "bytes" && first.kind == blob:
		return b.tensor(name, t, first.text)
	case (key == "bytes" || key == "value") && first.kind == list:
		isTensor, err = b.list(name, key, t, first)
	default:
		err = b.below(name, key, first)
	}
	if err != nil || isTensor {
		return err
	}
	return b.fields(t, 1, func(key string) error {
		x, err := b.next()
		if err != nil {
			return err
		}
		return b.below(name, key, x)
	})
}

// param reads the rest of a parameter, after its id.
func (b *burn) param(name string, t token) error {
	if err := b.expectKey(t, 1, "param"); err != nil {
		return err
	}
	if err := b.value(name); err != nil {
		return err
	}
	return b.expectNoMore(t, 2)
}

// list reads l, a list that is the value of `key` in the table t. If l is empty, or its items are
// the elements or the bytes of a tensor, list also reads the remaining pairs of t, adds the tensor
// and returns true. Otherwise it adds the tensors that the items contain, and returns false.
func (b *burn) list(name, key string, t, l token) (isTensor bool, err error) {
	isTensor = true // for an empty list
	dtype := rustTypes[b.said.float]
	var e element
	var raw []byte
	err = b.items(l, func(i int) error {
		x, err := b.next()
		if err != nil {
			return err
		}
		if i == 0 {
			isTensor = x.kind != null && x.kind < text
			dtype, e = "u8", elements["u8"]
			if key == "value" {
				dtype, e = b.elementOf(x)
			}
		}
		if !isTensor {
			above, err := b.names.join(name, key)
			if err != nil {
				return b.at("%w", err)
			}
			return b.below(above, strconv.Itoa(i), x)
		}
		if e.parse == nil {
			return b.at("%.100q: elements of a type that is not read", name)
		}
		if raw, err = e.parse(raw, x); err != nil {
			err = b.at("%.100q: %w", name, err)
		}
		return err
	})
	switch {
	case err != nil || !isTensor:
		return isTensor, err
	case key == "bytes":
		return true, b.tensor(name, t, raw)
	}
	if err := b.expectKey(t, 1, "shape"); err != nil {
		return true, err
	}
	shape, err := b.expectShape()
	if err != nil {
		return true, err
	}
	if err := b.add(name, dtype, shape, raw); err != nil {
		return true, err
	}
	return true, b.expectNoMore(t, 2)
}

// elementOf returns the element type of a tensor whose elements are in a list called "value", and the [element] that
// parses the items of the list. x is the first item. If the metadata says that floats have 16 bits, an integer item
// holds the bits of a float. The [element] is then that of u16, and the element type is that of the floats.
func (b *burn) elementOf(x token) (string, element) {
	dtype := rustTypes[b.said.int]
	half := rustTypes[b.said.float]
	switch {
	case x.kind == boolean:
		dtype = "bool"
	case x.kind == single:
		dtype = "f32"
	case x.kind == double:
		dtype = "f64"
	case x.kind == decimal && strings.ContainsAny(x.digits(), ".eE"):
		dtype = half
	case elements[half].width == 2:
		return half, elements["u16"]
	}
	return dtype, elements[dtype]
}

// tensor reads the rest of a tensor, after its bytes, and adds it.
func (b *burn) tensor(name string, t token, raw []byte) error {
	if err := b.expectKey(t, 1, "shape"); err != nil {
		return err
	}
	shape, err := b.expectShape()
	if err != nil {
		return err
	}
	if err := b.expectKey(t, 2, "dtype"); err != nil {
		return err
	}
	dtype, err := readBurnType(b.walker)
	if err != nil {
		return fmt.Errorf("%.100q: %w", name, err)
	}
	if err := b.add(name, dtype, shape, raw); err != nil {
		return err
	}
	return b.expectNoMore(t, 3)
}

func (b *burn) add(name, dtype string, shape []int, raw []byte) error {
	if name == "" {
		name = keyBurnItem
	}
	b.weights.AddRaw(name, dtype, shape, raw)
	return b.weights.Err()
}

// readBurnType reads an element type: its name, or a table whose keys include its name.
func readBurnType(r *walker) (dtype string, err error) {
	t, err := r.next()
	if err != nil {
		return "", err
	}
	switch t.kind {
	case text:
		return burnType(string(t.text))
	case table:
		err := r.fields(t, 0, func(key string) error {
			t, err := r.next()
			if err != nil {
				return err
			}
			if key == "Bool" {
				dtype, err = boolType(string(t.text))
			} else {
				dtype, err = burnType(key)
			}
			if err != nil {
				return err
			}
			return r.skip(t)
		})
		return dtype, err
	}
	return "", r.at("want a type, have %v", t.kind)
}

func burnType(name string) (string, error) {
	if dtype, ok := burnTypes[name]; ok {
		return dtype, nil
	}
	if name == "QFloat" {
		return "", errQuantised
	}
	return "", fmt.Errorf("%.100q: unknown element type", name)
}

var errQuantised = errors.New("quantised tensors are not supported")

func boolType(store string) (string, error) {
	if store == "Native" || store == "U8" {
		return "bool", nil
	}
	return "", fmt.Errorf("bools stored as %.100q are not supported", store)
}

package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

const digested = 16

// Digest returns a hash of up to 16 items of the data set: SHA-256, in hexadecimal. The items are the
// first one, the last one, and others at even distances between them. Functions and channels in items
// are ignored. Digest returns an error if the arguments of [Load] are not valid, if an item cannot be
// read, or if items are nested more than 32 levels deep.
func (l *Loader[B]) Digest() (string, error) {
	if err := l.Err(); err != nil {
		return "", err
	}
	h := sha256.New()
	if err := l.sample(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sampleOf returns a function that hashes some items of d. They are evenly spaced from the first to
// the last, and there are at most `digested`.
func sampleOf[T any](d Dataset[T]) func(h hash.Hash) error {
	return func(h hash.Hash) error {
		n := d.Len()
		for k := range min(n, digested) {
			i := k
			if n > digested {
				i = fraction(n-1, k, digested-1)
			}
			if err := writeItem(h, d, i); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	}
}

func writeItem[T any](h hash.Hash, d Dataset[T], i int) (err error) {
	defer rt.Recover("reading", &err)
	x, err := d.At(i)
	if err != nil {
		return err
	}
	return writeValue(h, reflect.ValueOf(&x).Elem(), 0)
}

var errDeep = errors.New("items are nested more than 32 levels deep")

// writeValue hashes v, in an encoding in which different values of the same type differ.
func writeValue(h hash.Hash, v reflect.Value, depth int) error {
	if depth > 32 {
		return errDeep
	}
	switch v.Kind() {
	case reflect.Bool:
		word := uint64(0)
		if v.Bool() {
			word = 1
		}
		writeWord(h, word)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		writeWord(h, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		writeWord(h, v.Uint())
	case reflect.Float32, reflect.Float64:
		writeWord(h, math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		writeWord(h, math.Float64bits(real(v.Complex())))
		writeWord(h, math.Float64bits(imag(v.Complex())))
	case reflect.String:
		writeWord(h, uint64(v.Len()))
		h.Write([]byte(v.String()))
	case reflect.Array, reflect.Slice:
		return writeList(h, v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := writeValue(h, v.Field(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			writeWord(h, 0)
			return nil
		}
		writeWord(h, 1)
		if v.Kind() == reflect.Interface {
			fmt.Fprintf(h, "%v ", v.Elem().Type())
		}
		return writeValue(h, v.Elem(), depth+1)
	case reflect.Map:
		return writeMap(h, v, depth)
	}
	return nil
}

// writeList hashes the elements of an array or slice. Numbers are hashed in the form that they have
// in memory.
func writeList(h hash.Hash, v reflect.Value, depth int) error {
	writeWord(h, uint64(v.Len()))
	if isNumbers(v.Type().Elem()) && v.Len() > 0 && (v.Kind() == reflect.Slice || v.CanAddr()) {
		first := v.Index(0)
		h.Write(unsafe.Slice((*byte)(first.Addr().UnsafePointer()), v.Len()*int(first.Type().Size())))
		return nil
	}
	for i := range v.Len() {
		if err := writeValue(h, v.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// isNumbers reports whether t is a numeric type, or an array of numbers.
func isNumbers(t reflect.Type) bool {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() > reflect.Bool && t.Kind() <= reflect.Complex128 && t.Size() > 0
}

// writeMap hashes the sorted digests of the entries of a map.
func writeMap(h hash.Hash, v reflect.Value, depth int) error {
	var entries []string
	for key, value := range v.Seq2() {
		entry := sha256.New()
		for _, part := range []reflect.Value{key, value} {
			if err := writeValue(entry, part, depth+1); err != nil {
				return err
			}
		}
		entries = append(entries, string(entry.Sum(nil)))
	}
	slices.Sort(entries)
	writeWord(h, uint64(len(entries)))
	for _, e := range entries {
		h.Write([]byte(e))
	}
	return nil
}

func writeWord(h hash.Hash, x uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	h.Write(b[:])
}

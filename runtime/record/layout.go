package record

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// A named record is a table with these keys in this order:
//
//	burngen   1, the version of this layout
//	sha256    of the contents, as [rt.Weights.Sum] defines it
//	metadata  a table of texts
//	tensors   a table of tensors; a tensor is a table of dtype, shape and data
//
// Names are sorted. Data are the bytes of the elements, little-endian. JSON has a list of numbers or
// bools instead. For element types that are neither, it has the bytes in Base64.
const (
	version     = 1
	keyVersion  = "burngen"
	keySum      = "sha256"
	keyMetadata = "metadata"
	keyTensors  = "tensors"
	keyType     = "dtype"
	keyShape    = "shape"
	keyData     = "data"
)

// sink receives the values of a named record. flush returns the write errors.
type sink interface {
	table(n int) // followed by n keys with their values, then end
	list(n int)  // followed by n values, then end
	end()
	key(s string)
	text(s string)
	integer(x int)
	data(info rt.Info, raw []byte) error
	flush() error
}

func writeNamed(to func(io.Writer) sink) func(io.Writer, *rt.Weights) error {
	return func(out io.Writer, w *rt.Weights) error {
		sum, err := w.Sum()
		if err != nil {
			return err
		}
		s := to(out)
		s.table(4)
		s.key(keyVersion)
		s.integer(version)
		s.key(keySum)
		s.text(sum)
		metadata := w.Metadata()
		s.key(keyMetadata)
		s.table(len(metadata))
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			if err := checkTexts(key, metadata[key]); err != nil {
				return fmt.Errorf("metadata %.100q: %w", key, err)
			}
			s.key(key)
			s.text(metadata[key])
		}
		s.end()
		names := w.Names()
		s.key(keyTensors)
		s.table(len(names))
		for _, name := range names {
			if err := checkTexts(name); err != nil {
				return fmt.Errorf("%.100q: %w", name, err)
			}
			info, _ := w.Info(name)
			s.key(name)
			s.table(3)
			s.key(keyType)
			s.text(info.DType)
			s.key(keyShape)
			s.list(len(info.Shape))
			for _, n := range info.Shape {
				s.integer(n)
			}
			s.end()
			s.key(keyData)
			if err := s.data(info, w.RawOnce(name)); err != nil {
				return err
			}
			s.end()
		}
		s.end()
		s.end()
		if err := w.Err(); err != nil {
			return err
		}
		return s.flush()
	}
}

func checkTexts(texts ...string) error {
	for _, t := range texts {
		if err := checkText([]byte(t)); err != nil {
			return err
		}
	}
	return nil
}

// readNamed adds the tensors of a named record to w. top is the start token of the record's table;
// its first key has been read.
func readNamed(r *walker, top token, w *rt.Weights) error {
	v, err := r.expectSize()
	if err != nil {
		return err
	}
	if err := checkVersion(v); err != nil {
		return err
	}
	if err := r.expectKey(top, 1, keySum); err != nil {
		return err
	}
	sum, err := r.expectText()
	if err != nil {
		return err
	}
	if err := r.expectKey(top, 2, keyMetadata); err != nil {
		return err
	}
	if err := readMetadata(r, w); err != nil {
		return err
	}
	if err := r.expectKey(top, 3, keyTensors); err != nil {
		return err
	}
	tensors, err := r.expect(table)
	if err != nil {
		return err
	}
	err = r.fields(tensors, 0, func(name string) error {
		if err := readTensor(r, w, name); err != nil {
			return fmt.Errorf("%.100q: %w", name, err)
		}
		return w.Err()
	})
	if err == nil {
		err = r.expectNoMore(top, 4)
	}
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return err
	}
	return verify(w, sum)
}

// checkVersion returns an error if v is not the [version] of the layout.
func checkVersion(v int64) error {
	if v != version {
		return fmt.Errorf("version %d of the layout is not supported, want %d", v, version)
	}
	return nil
}

func verify(w *rt.Weights, sum string) error {
	got, err := w.Sum()
	if err == nil && got != sum {
		err = fmt.Errorf("the file is damaged: the digest of its contents is %s, it says %.100q", got, sum)
	}
	return err
}

func readMetadata(r *walker, w *rt.Weights) error {
	t, err := r.expect(table)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	return r.fields(t, 0, func(key string) error {
		value, err := r.expectText()
		if err != nil {
			return err
		}
		if seen[key] {
			return r.at("metadata %.100q appears twice", key)
		}
		seen[key] = true
		w.SetMetadata(key, value)
		return w.Err()
	})
}

func readTensor(r *walker, w *rt.Weights, name string) error {
	t, err := r.expect(table)
	if err != nil {
		return err
	}
	if err := r.expectKey(t, 0, keyType); err != nil {
		return err
	}
	dtype, err := r.expectText()
	if err != nil {
		return err
	}
	if err := r.expectKey(t, 1, keyShape); err != nil {
		return err
	}
	shape, err := r.expectShape()
	if err != nil {
		return err
	}
	if err := r.expectKey(t, 2, keyData); err != nil {
		return err
	}
	n, err := rt.Elems(shape)
	if err != nil {
		return r.at("%w", err)
	}
	raw, err := readData(r, dtype, n)
	if err != nil {
		return err
	}
	w.AddRaw(name, dtype, shape, raw)
	return r.expectNoMore(t, 3)
}

// readData reads the bytes of n elements, as bytes, numbers or Base64.
func readData(r *walker, dtype string, n int) ([]byte, error) {
	t, err := r.next()
	if err != nil {
		return nil, err
	}
	e, numbers := elements[dtype]
	switch {
	case t.kind == blob:
		return t.text, nil
	case t.kind == list && numbers:
		if left := r.left(); n > left || n > math.MaxInt/e.width {
			return nil, r.at("%d elements, %d bytes are left: %w", n, left, errShort)
		}
		raw := make([]byte, 0, n*e.width)
		err := r.items(t, func(i int) error {
			if i == n {
				return fmt.Errorf("more than %d elements", n)
			}
			t, err := r.next()
			if err == nil {
				raw, err = e.parse(raw, t)
			}
			return err
		})
		if err != nil {
			err = r.at("%w", err)
		}
		return raw, err
	case t.kind == text && !numbers:
		raw := make([]byte, base64.StdEncoding.DecodedLen(len(t.text)))
		n, err := base64.StdEncoding.Strict().Decode(raw, t.text)
		if err != nil {
			err = r.at("%w", err)
		}
		return raw[:n], err
	}
	return nil, r.at("want data of %.100q, have %v", dtype, t.kind)
}

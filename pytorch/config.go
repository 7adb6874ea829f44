package pytorch

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/burngen/burngen/pytorch/pickle"
	"github.com/burngen/burngen/runtime/rt"
)

// Config fills cfg, a pointer to a struct or another value, from a value in a file. `key` says
// which value: "config" for a key of the file's dict, "model.args" for a dict in a dict, "" for the
// whole file.
//
// A key of a dict sets the field whose json tag equals it. If there is no such field, it sets the
// field whose name equals it ignoring case and underscores: "n_layers" sets NLayers. A key without
// a field is ignored. A field without a key keeps its value.
//
// Ints, floats, bools, strings, lists, tuples and dicts set Go values of the corresponding kind. An
// int also sets a float. None sets a pointer, slice, map or interface to nil, and does not change
// other fields. Element types and devices are strings: "torch.float16". A field of type any gets
// what package encoding/json would store, except that ints are int64.
//
// Config returns the errors of [Open]. It also returns an error if there is no such key, or if cfg
// is not a pointer. If values do not fit their fields, the error has a line for each of these
// values with its path, at most 100 lines.
func Config(path, key string, cfg any) error {
	return fromFile(path, func(l *loader, top pickle.Value) error {
		v, err := under(top, key)
		if err != nil {
			return err
		}
		to := reflect.ValueOf(cfg)
		if to.Kind() != reflect.Pointer || to.IsNil() {
			return fmt.Errorf("config: want a pointer, not a %T", cfg)
		}
		f := &filler{loader: l}
		f.fill(to.Elem(), v, key, 0)
		return errors.Join(f.errs...)
	})
}

// ConfigJSON returns a value in a file as indented JSON with sorted keys. `key` says which value,
// as for [Config]. ConfigJSON returns the errors of Config, and an error for an infinity or a NaN,
// which JSON does not have.
func ConfigJSON(path, key string) ([]byte, error) {
	var v any
	if err := Config(path, key, &v); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return append(text, '\n'), nil
}

func fromFile(path string, use func(l *loader, top pickle.Value) error) error {
	w := rt.ReadWeightsFile(path, func(_ *rt.Weights, file []byte) error {
		l, top, err := read(file)
		if err != nil {
			return err
		}
		return use(l, top)
	})
	defer w.Close()
	return w.Err()
}

// under returns the value at key, a path of keys joined by dots. If key is "", it returns v.
func under(v pickle.Value, key string) (pickle.Value, error) {
	if key == "" {
		return v, nil
	}
	d, ok := dictOf(v)
	if !ok {
		return nil, fmt.Errorf("key %.100q is not in a dict", key)
	}
	for i, k := range d.Keys {
		text, err := keyText(k)
		if err != nil {
			continue
		}
		if text == key {
			return d.Values[i], nil
		}
		if rest, ok := strings.CutPrefix(key, text+"."); ok {
			return under(d.Values[i], rest)
		}
	}
	var have []string
	for _, k := range d.Keys[:min(len(d.Keys), maxRank)] {
		if text, err := keyText(k); err == nil {
			have = append(have, fmt.Sprintf("%.100q", text))
		}
	}
	return nil, fmt.Errorf("key %.100q is missing; the keys are %s", key, strings.Join(have, ", "))
}

// dictOf returns v if v is a dict. If v is an object whose attributes are a dict, it returns this
// dict.
func dictOf(v pickle.Value) (*pickle.Dict, bool) {
	if o, ok := v.(*object); ok {
		v = o.attributes
	}
	d, ok := v.(*pickle.Dict)
	return d, ok
}

// filler stores unpickled values in Go values.
type filler struct {
	*loader
	// errors of the values that do not fit
	errs []error
}

// maxProblems is the largest number of errors that a filler collects.
const maxProblems = 100

func (f *filler) bad(way, format string, args ...any) {
	if len(f.errs) < maxProblems {
		f.errs = append(f.errs, fmt.Errorf("config: %.200q: %s", way, fmt.Sprintf(format, args...)))
	}
}

// fill stores v in dst. `way` is the path of v in the file, for errors. `depth` is the depth of the
// recursion.
func (f *filler) fill(dst reflect.Value, v pickle.Value, way string, depth int) {
	if err := f.spend(4); err != nil || depth > maxDepth {
		f.bad(way, "holds too much, or itself")
		return
	}
	v = plain(v)
	if v == nil {
		switch dst.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			dst.SetZero()
		}
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		f.fill(dst.Elem(), v, way, depth+1)
	case reflect.Interface:
		if dst.NumMethod() > 0 {
			f.bad(way, "cannot fill a %v", dst.Type())
		} else if x := f.any(v, way, depth); x != nil {
			dst.Set(reflect.ValueOf(x))
		}
	case reflect.Struct, reflect.Map:
		d, ok := dictOf(v)
		if !ok {
			f.bad(way, "want a dict, have %s", describe(v))
		} else if dst.Kind() == reflect.Struct {
			f.fields(dst, d, way, depth)
		} else {
			f.entries(dst, d, way, depth)
		}
	case reflect.Slice, reflect.Array:
		f.elements(dst, v, way, depth)
	default:
		f.scalar(dst, v, way)
	}
}

// plain replaces a class by its full name, such as "torch.float16".
func plain(v pickle.Value) pickle.Value {
	if c, ok := v.(*pickle.Class); ok {
		return c.Module + "." + c.Name
	}
	return v
}

func (f *filler) scalar(dst reflect.Value, v pickle.Value, way string) {
	fits := false
	switch x := v.(type) {
	case bool:
		if fits = dst.Kind() == reflect.Bool; fits {
			dst.SetBool(x)
		}
	case string:
		if fits = dst.Kind() == reflect.String; fits {
			dst.SetString(x)
		}
	case float64:
		if fits = dst.CanFloat(); fits {
			dst.SetFloat(x)
		}
	case int64:
		switch {
		case dst.CanInt():
			if fits = !dst.OverflowInt(x); fits {
				dst.SetInt(x)
			}
		case dst.CanUint():
			if fits = x >= 0 && !dst.OverflowUint(uint64(x)); fits {
				dst.SetUint(uint64(x))
			}
		case dst.CanFloat():
			fits = true
			dst.SetFloat(float64(x))
		}
	case *big.Int:
		if fits = dst.CanUint() && x.IsUint64() && !dst.OverflowUint(x.Uint64()); fits {
			dst.SetUint(x.Uint64())
		}
	}
	if !fits {
		f.bad(way, "%s does not fit %v", describe(v), dst.Type())
	}
}

// fields stores the values of d in the fields of the struct dst. way and depth are as for fill.
func (f *filler) fields(dst reflect.Value, d *pickle.Dict, way string, depth int) {
	byName := map[string]int{}
	for _, field := range reflect.VisibleFields(dst.Type()) {
		if !field.IsExported() || len(field.Index) != 1 {
			continue
		}
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == "-" {
			continue
		}
		if tag != "" {
			byName[tag] = field.Index[0]
		} else {
			byName[folded(field.Name)] = field.Index[0]
		}
	}
	for i, k := range d.Keys {
		name, ok := k.(string)
		if !ok {
			continue
		}
		at, ok := byName[name]
		if !ok {
			at, ok = byName[folded(name)]
		}
		if ok {
			f.fill(dst.Field(at), d.Values[i], join(way, name), depth+1)
		}
	}
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func join(way, name string) string {
	if way == "" {
		return name
	}
	return way + "." + name
}

// entries stores the entries of d in the map dst, whose keys are strings or integers. way and depth
// are as for fill.
func (f *filler) entries(dst reflect.Value, d *pickle.Dict, way string, depth int) {
	m := reflect.MakeMap(dst.Type())
	for i, k := range d.Keys {
		key, x := reflect.New(dst.Type().Key()).Elem(), reflect.New(dst.Type().Elem()).Elem()
		text, err := keyText(k)
		if err != nil {
			f.bad(way, "%v", err)
			continue
		}
		if key.Kind() == reflect.String {
			key.SetString(text)
		} else {
			f.scalar(key, k, join(way, text))
		}
		f.fill(x, d.Values[i], join(way, text), depth+1)
		m.SetMapIndex(key, x)
	}
	dst.Set(m)
}

// elements stores the items of v in the slice or array dst. way and depth are as for fill.
func (f *filler) elements(dst reflect.Value, v pickle.Value, way string, depth int) {
	if b, ok := v.(pickle.Bytes); ok && dst.Kind() == reflect.Slice && dst.Type().Elem().Kind() == reflect.Uint8 {
		dst.SetBytes(b)
		return
	}
	list, ok := items(v)
	if s, isSet := v.(*pickle.Set); isSet {
		list, ok = s.Items, true
	}
	switch {
	case !ok:
		f.bad(way, "want a list, have %s", describe(v))
		return
	case dst.Kind() == reflect.Slice:
		if f.spend(len(list)) != nil {
			f.bad(way, "holds too much")
			return
		}
		dst.Set(reflect.MakeSlice(dst.Type(), len(list), len(list)))
	case dst.Len() != len(list):
		f.bad(way, "want %d elements, have %d", dst.Len(), len(list))
		return
	}
	for i, x := range list {
		f.fill(dst.Index(i), x, join(way, strconv.Itoa(i)), depth+1)
	}
}

// any converts v to a value of type any, as encoding/json does when it decodes. Ints become int64,
// however. way and depth are as for fill.
func (f *filler) any(v pickle.Value, way string, depth int) any {
	var into reflect.Value
	switch x := v.(type) {
	case bool, int64, float64, string:
		return x
	case *big.Int:
		return json.Number(x.String())
	case pickle.Bytes:
		return string(x)
	case *pickle.Dict, *object:
		into = reflect.ValueOf(&map[string]any{})
	case *pickle.List, *pickle.Tuple, *pickle.Set:
		into = reflect.ValueOf(&[]any{})
	default:
		f.bad(way, "%s is not part of a config", describe(v))
		return nil
	}
	f.fill(into.Elem(), v, way, depth+1)
	return into.Elem().Interface()
}

func describe(v pickle.Value) string {
	switch v := v.(type) {
	case bool, int64, float64:
		return fmt.Sprint(v)
	case string:
		return fmt.Sprintf("%.100q", v)
	case *big.Int:
		return "an int of " + strconv.Itoa(v.BitLen()) + " bits"
	case *tensor:
		return "a tensor"
	case *pickle.Dict, *object:
		return "a dict"
	}
	if _, ok := items(v); ok {
		return "a list"
	}
	return fmt.Sprintf("a %T", v)
}

package config

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

type kind int

const (
	basic kind = iota
	slice
	array
	mapping
	pointer
	nested // another configuration
)

// Type is the type of a field.
type Type struct {
	kind kind
	// name is the name of a basic type or a configuration. base is the predeclared type of a basic
	// type.
	name, base string
	elem       *Type
	length     string // Go expression of an array's length
}

// bases lists the predeclared types that a field may have. The value of a number type is its size in bits; int and
// uint have 64 on all machines. The values of bool and string only say that these types are allowed.
var bases = map[string]int{
	"bool": 1, "string": 1, "int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
	"uint": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "byte": 8, "rune": 32,
	"float32": 32, "float64": 64,
}

func (r *reader) typ(e ast.Expr) *Type {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.typ(e.X)
	case *ast.Ident:
		return r.named(e.Name)
	case *ast.StarExpr:
		return wrap(&Type{kind: pointer}, r.typ(e.X))
	case *ast.MapType:
		if key, ok := e.Key.(*ast.Ident); !ok || key.Name != "string" {
			return nil
		}
		return wrap(&Type{kind: mapping}, r.typ(e.Value))
	case *ast.ArrayType:
		if e.Len == nil {
			return wrap(&Type{kind: slice}, r.typ(e.Elt))
		}
		if n, ok := e.Len.(*ast.BasicLit); ok {
			return wrap(&Type{kind: array, length: n.Value}, r.typ(e.Elt))
		}
	}
	return nil
}

func wrap(t, elem *Type) *Type {
	if elem == nil || t.kind == pointer && elem.kind == pointer {
		return nil
	}
	t.elem = elem
	return t
}

// named returns the type called name, or nil if a field cannot have this type. It adds the type to the set if the
// type is declared in the package and is not a configuration.
func (r *reader) named(name string) *Type {
	if r.marked[name] {
		return &Type{kind: nested, name: name}
	}
	base := name
	if own, ok := r.local[name]; ok {
		ident, ok := own.(*ast.Ident)
		if !ok || r.local[ident.Name] != nil {
			return nil
		}
		base = ident.Name
	}
	if bases[base] == 0 {
		return nil
	}
	t := &Type{name: name, base: base}
	if name != base && !slices.ContainsFunc(r.set.Types, func(o *Type) bool { return o.name == name }) {
		r.set.Types = append(r.set.Types, t)
	}
	return t
}

// String returns the type as Go writes it.
func (t *Type) String() string {
	switch t.kind {
	case slice:
		return "[]" + t.elem.String()
	case array:
		return "[" + t.length + "]" + t.elem.String()
	case mapping:
		return "map[string]" + t.elem.String()
	case pointer:
		return "*" + t.elem.String()
	}
	return t.name
}

func (t *Type) zero() string {
	switch {
	case t.kind == slice || t.kind == mapping || t.kind == pointer:
		return "nil"
	case t.kind != basic:
		return t.String() + "{}"
	case t.base == "bool":
		return "false"
	case t.base == "string":
		return `""`
	}
	return "0"
}

// literal returns the Go expression for a value written as text. Commas separate the elements of a list,
// which may stand in brackets. It returns an error if the text is not of type t. Maps and configurations
// cannot be written as text.
func (t *Type) literal(text string) (string, error) {
	switch t.kind {
	case basic:
		return t.basicLiteral(text)
	case slice, array:
		inner := strings.TrimSpace(text)
		if strings.HasPrefix(inner, "[") && strings.HasSuffix(inner, "]") {
			inner = inner[1 : len(inner)-1]
		}
		var elems []string
		if strings.TrimSpace(inner) != "" {
			for part := range strings.SplitSeq(inner, ",") {
				e, err := t.elem.literal(strings.TrimSpace(part))
				if err != nil {
					return "", err
				}
				elems = append(elems, e)
			}
		}
		return t.list(elems)
	case pointer:
		e, err := t.elem.literal(text)
		return t.point(e), err
	}
	return "", fmt.Errorf("%s has no value that is written as text; give a file with -config", t)
}

func (t *Type) list(elems []string) (string, error) {
	if n, err := strconv.ParseInt(t.length, 0, 64); t.kind == array && (err != nil || n != int64(len(elems))) {
		return "", fmt.Errorf("%d elements, %s expected", len(elems), t)
	}
	return t.String() + "{" + strings.Join(elems, ", ") + "}", nil
}

func (t *Type) point(elem string) string {
	if t.elem.kind == nested {
		return "&" + elem
	}
	return fmt.Sprintf("func() %s { var x %s = %s; return &x }()", t, t.elem, elem)
}

func (t *Type) basicLiteral(text string) (string, error) {
	bits := bases[t.base]
	var err error
	switch trimmed := strings.TrimSpace(text); {
	case t.base == "string":
		return strconv.Quote(text), nil
	case t.base == "bool":
		var b bool
		if b, err = strconv.ParseBool(trimmed); err == nil {
			return strconv.FormatBool(b), nil
		}
	case strings.HasPrefix(t.base, "float"):
		var f float64
		if f, err = strconv.ParseFloat(trimmed, bits); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return strconv.FormatFloat(f, 'g', -1, bits), nil
		}
	case strings.HasPrefix(t.base, "u") || t.base == "byte":
		var n uint64
		if n, err = strconv.ParseUint(trimmed, 0, bits); err == nil {
			return strconv.FormatUint(n, 10), nil
		}
	default:
		var n int64
		if n, err = strconv.ParseInt(trimmed, 0, bits); err == nil {
			return strconv.FormatInt(n, 10), nil
		}
	}
	return "", fmt.Errorf("%q is not of type %s", text, t.base)
}

// fromJSON returns the Go expression of a JSON value of type t. path names the value in messages.
// foreign says that the value is from another program's configuration; see [Given.Foreign].
func (s *Set) fromJSON(t *Type, path string, data json.RawMessage, foreign bool) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("%s: %w", path, err) }
	isNull := string(data) == "null"
	switch t.kind {
	case nested:
		return s.build(s.Struct(t.name), path, &given{json: data, foreign: foreign})
	case pointer:
		if isNull {
			return "nil", nil
		}
		e, err := s.fromJSON(t.elem, path, data, foreign)
		return t.point(e), err
	case slice, array:
		if isNull && t.kind == slice {
			return "nil", nil
		}
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return fail(fmt.Errorf("%s is not of type %s", data, t))
		}
		elems := make([]string, len(list))
		for i, d := range list {
			var err error
			if elems[i], err = s.fromJSON(t.elem, fmt.Sprintf("%s[%d]", path, i), d, foreign); err != nil {
				return "", err
			}
		}
		e, err := t.list(elems)
		if err != nil {
			return fail(err)
		}
		return e, nil
	case mapping:
		if isNull {
			return "nil", nil
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(data, &m); err != nil {
			return fail(fmt.Errorf("%s is not of type %s", data, t))
		}
		var elems []string
		for _, k := range sortedKeys(m) {
			e, err := s.fromJSON(t.elem, fmt.Sprintf("%s[%q]", path, k), m[k], foreign)
			if err != nil {
				return "", err
			}
			elems = append(elems, strconv.Quote(k)+": "+e)
		}
		return t.String() + "{" + strings.Join(elems, ", ") + "}", nil
	}
	text := string(data)
	if quoted := strings.HasPrefix(text, `"`); quoted != (t.base == "string") || isNull {
		return fail(fmt.Errorf("%s is not of type %s", text, t))
	} else if quoted {
		if err := json.Unmarshal(data, &text); err != nil {
			return fail(err)
		}
	}
	e, err := t.basicLiteral(text)
	if err != nil {
		return fail(err)
	}
	return e, nil
}

func jsonKey(tag reflect.StructTag) string {
	key, _, _ := strings.Cut(tag.Get("json"), ",")
	return key
}

package ir

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir/dim"
)

// Attributes are the exported fields of an operator. A field is an integer, a float, a bool, a
// string, a [dim.Dim], a [DType], a [Type], a *[Tensor], a slice of these, or a struct of such
// fields. Fields with zero values are not printed. A field tagged `ir:"result"`, a Type or []Type,
// holds the types of the results and is read from these. Unexported fields are not attributes.

var (
	dimType    = reflect.TypeFor[dim.Dim]()
	dtypeType  = reflect.TypeFor[DType]()
	typeType   = reflect.TypeFor[Type]()
	tensorType = reflect.TypeFor[*Tensor]()
)

// Equal reports whether two operators are of one type with equal attributes.
func Equal(a, b Op) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Type() == y.Type() && equalAttr(x, y)
}

func equalAttr(x, y reflect.Value) bool {
	switch a := x.Interface().(type) {
	case dim.Dim:
		return a.Equal(y.Interface().(dim.Dim))
	case Type:
		return a.Equal(y.Interface().(Type))
	case *Tensor:
		return a.Equal(y.Interface().(*Tensor))
	}
	switch x.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(x.Float()) == math.Float64bits(y.Float())
	case reflect.Slice:
		if x.Len() != y.Len() || x.IsNil() != y.IsNil() {
			return false
		}
		for i := range x.Len() {
			if !equalAttr(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() && !equalAttr(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	}
	return x.Interface() == y.Interface()
}

// SubstOp returns op with the symbols in its attributes replaced. The function `env` returns the value of a symbol,
// and false for a symbol that stays.
func SubstOp(op Op, env func(string) (dim.Dim, bool)) Op {
	v := reflect.New(reflect.TypeOf(op)).Elem()
	v.Set(reflect.ValueOf(op))
	substAttr(v, env)
	return v.Interface().(Op)
}

func substAttr(v reflect.Value, env func(string) (dim.Dim, bool)) {
	switch v.Type() {
	case dimType:
		v.Set(reflect.ValueOf(v.Interface().(dim.Dim).Subst(env)))
		return
	case typeType:
		v.Set(reflect.ValueOf(v.Interface().(Type).Subst(env)))
		return
	case tensorType:
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		for i := range s.Len() {
			substAttr(s.Index(i), env)
		}
		v.Set(s)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				substAttr(v.Field(i), env)
			}
		}
	}
}

func hasDims(op Op) bool { return typeHasDims(reflect.TypeOf(op)) }

func typeHasDims(t reflect.Type) bool {
	switch {
	case t == dimType || t == typeType:
		return true
	case t == tensorType || t == dtypeType:
		return false
	case t.Kind() == reflect.Slice:
		return typeHasDims(t.Elem())
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && typeHasDims(f.Type) {
				return true
			}
		}
	}
	return false
}

func symbolsOf(op Op, use func(string)) {
	SubstOp(op, func(s string) (dim.Dim, bool) { use(s); return dim.Dim{}, false })
}

// printAttrs returns the nonzero fields of v in the text form, "axis=1 mode=\"floor\"".
func printAttrs(v reflect.Value) string {
	var fields []string
	for i := range v.NumField() {
		if f := v.Field(i); isPrinted(v.Type().Field(i)) && !isZeroAttr(f) {
			fields = append(fields, snake(v.Type().Field(i).Name)+"="+printAttr(f))
		}
	}
	return strings.Join(fields, " ")
}

func isPrinted(f reflect.StructField) bool { return f.IsExported() && !isResultType(f) }

func isResultType(f reflect.StructField) bool { return f.Tag.Get("ir") == "result" }

// setResultTypes stores the types of a node's results in the operator's field that has the tag
// ir:"result".
func setResultTypes(op reflect.Value, types []Type) {
	for i := range op.NumField() {
		if !isResultType(op.Type().Field(i)) {
			continue
		}
		switch field := op.Field(i).Addr().Interface().(type) {
		case *[]Type:
			*field = types
		case *Type:
			if len(types) > 0 {
				*field = types[0]
			}
		}
	}
}

func isZeroAttr(v reflect.Value) bool {
	switch a := v.Interface().(type) {
	case dim.Dim:
		return a.Equal(dim.Dim{})
	case Type:
		return a.IsZero()
	}
	if v.Kind() == reflect.Float32 || v.Kind() == reflect.Float64 {
		return math.Float64bits(v.Float()) == 0
	}
	return v.IsZero()
}

func printAttr(v reflect.Value) string {
	switch a := v.Interface().(type) {
	case dim.Dim:
		return a.String()
	case DType:
		return a.String()
	case Type:
		return a.String()
	case *Tensor:
		return a.String()
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.String:
		return strconv.QuoteToASCII(v.String())
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = printAttr(v.Index(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	case reflect.Struct:
		return "{" + printAttrs(v) + "}"
	}
	panic("ir: an attribute cannot be a " + v.Type().String())
}

// String returns t in the text form, its type and its elements: "f32[2](1,2)". A splat of several
// elements is "f32[1000](0...)".
func (t *Tensor) String() string {
	var b strings.Builder
	b.WriteString(t.Type().String())
	b.WriteByte('(')
	for i := range t.Stored() {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case t.DType == String:
			b.WriteString(strconv.QuoteToASCII(t.texts[i]))
		case t.DType == F64:
			b.WriteString(strconv.FormatFloat(t.floats[i], 'g', -1, 64))
		case t.DType.IsFloat():
			b.WriteString(strconv.FormatFloat(t.floats[i], 'g', -1, 32))
		case t.DType == U64:
			b.WriteString(strconv.FormatUint(uint64(t.ints[i]), 10))
		default:
			b.WriteString(strconv.FormatInt(t.ints[i], 10))
		}
	}
	if t.splat {
		b.WriteString("...")
	}
	b.WriteByte(')')
	return b.String()
}

func (p *parser) parseAttrs(v reflect.Value) {
	for !p.accept("}") {
		name := p.ident()
		field := reflect.Value{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); snake(f.Name) == name && isPrinted(f) {
				field = v.Field(i)
			}
		}
		if !field.IsValid() {
			p.fail("%s has no attribute %q", v.Type().Name(), name)
		}
		p.expect("=")
		p.parseAttr(field)
	}
}

func (p *parser) parseAttr(v reflect.Value) {
	switch v.Type() {
	case dimType:
		v.Set(reflect.ValueOf(p.dim()))
		return
	case dtypeType:
		v.Set(reflect.ValueOf(p.dtype()))
		return
	case typeType:
		v.Set(reflect.ValueOf(p.typ()))
		return
	case tensorType:
		v.Set(reflect.ValueOf(p.tensor()))
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(p.integer())
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(p.word(), v.Type().Bits())
		if err != nil {
			p.fail("%v", err)
		}
		v.SetFloat(f)
	case reflect.Bool:
		b, err := strconv.ParseBool(p.word())
		if err != nil {
			p.fail("%v", err)
		}
		v.SetBool(b)
	case reflect.String:
		v.SetString(p.quoted())
	case reflect.Slice:
		p.expect("[")
		s := reflect.MakeSlice(v.Type(), 0, 4)
		for !p.accept("]") {
			if s.Len() > 0 {
				p.expect(",")
			}
			item := reflect.New(v.Type().Elem()).Elem()
			p.parseAttr(item)
			s = reflect.Append(s, item)
		}
		v.Set(s)
	case reflect.Struct:
		p.expect("{")
		p.parseAttrs(v)
	default:
		p.fail("an attribute cannot be a %s", v.Type())
	}
}

func (p *parser) tensor() *Tensor {
	typ := p.typ()
	shape, ok := typ.Static()
	if !ok || !typ.IsTensor() {
		p.fail("a constant of type %s", typ)
	}
	n, err := CheckedLen(shape)
	if err != nil {
		p.fail("%v", err)
	}
	t := &Tensor{DType: typ.DType, Shape: shape}
	p.expect("(")
	for !p.accept(")") {
		if p.accept("...") {
			t.splat = true
			p.expect(")")
			break
		}
		if t.Stored() > 0 {
			p.expect(",")
		}
		t.appendText(p)
	}
	if want := n; t.Stored() != want && !(t.splat && t.Stored() == 1) {
		p.fail("%d elements for %s", t.Stored(), typ)
	}
	return t
}

func (t *Tensor) appendText(p *parser) {
	switch {
	case t.DType == String:
		t.texts = append(t.texts, p.quoted())
	case t.DType.IsFloat():
		f, err := strconv.ParseFloat(p.word(), 64)
		if err != nil {
			p.fail("%v", err)
		}
		t.floats = append(t.floats, RoundFloat(t.DType, f))
	case t.DType == U64:
		u, err := strconv.ParseUint(p.word(), 10, 64)
		if err != nil {
			p.fail("%v", err)
		}
		t.ints = append(t.ints, int64(u))
	default:
		t.ints = append(t.ints, WrapInt(t.DType, p.integer()))
	}
}

func (p *parser) integer() int64 {
	n, err := strconv.ParseInt(p.word(), 10, 64)
	if err != nil {
		p.fail("%v", err)
	}
	return n
}

func (p *parser) dtype() DType {
	d, err := ParseDType(p.ident())
	if err != nil {
		p.fail("%v", err)
	}
	return d
}

func (p *parser) typ() Type {
	p.enter()
	defer p.leave()
	name := p.ident()
	switch name {
	case "none":
		return Type{}
	case "seq", "opt":
		p.expect("<")
		elem := p.elemType()
		p.expect(">")
		if name == "seq" {
			return SequenceOf(elem)
		}
		return OptionalOf(elem)
	case "map":
		p.expect("<")
		key := p.dtype()
		p.expect(",")
		elem := p.elemType()
		p.expect(">")
		return MapOf(key, elem)
	}
	d, err := ParseDType(name)
	if err != nil {
		p.fail("%v", err)
	}
	p.expect("[")
	shape := []dim.Dim{}
	for !p.accept("]") {
		if len(shape) > 0 {
			p.expect(",")
		}
		shape = append(shape, p.dim())
	}
	return TensorOf(d, shape...)
}

func (p *parser) elemType() Type {
	start := p.at
	if d, err := ParseDType(p.ident()); err == nil && !p.peek("[") {
		return Type{DType: d}
	}
	p.at = start
	return p.typ()
}

// dim parses an expression up to a comma, bracket, brace or blank.
func (p *parser) dim() dim.Dim {
	start, depth := p.at, 0
	for ; p.at < len(p.src); p.at++ {
		c := p.src[p.at]
		if c == '(' {
			depth++
		}
		if depth == 0 && strings.IndexByte(",]} \n)", c) >= 0 {
			break
		}
		if c == ')' {
			depth--
		}
	}
	text := p.src[start:p.at]
	p.skip()
	d, err := dim.Parse(text)
	if err != nil {
		p.fail("%v", err)
	}
	return d
}

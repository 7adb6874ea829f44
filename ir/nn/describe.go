package nn

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/burngen/burngen/ir"
)

// Describe returns a text about a model. The text has one line for each module, parameter, buffer and state: its
// path or name, and its type. The last line is the total number of elements.
func Describe(m any) string {
	d := describer{counted: map[*param]bool{}}
	walk(m, d.part)
	return d.b.String() + d.total(m)
}

type describer struct {
	b       strings.Builder
	counted map[*param]bool
}

func (d *describer) part(x part) {
	indent := strings.Repeat("  ", x.depth)
	_, last, _ := cutLast(x.path)
	if x.depth == 0 {
		fmt.Fprintf(&d.b, "%s\n", moduleName(x))
		return
	}
	switch p := x.param; {
	case x.state != nil:
		fmt.Fprintf(&d.b, "%s%s %s, a state\n", indent, last, x.state.typ)
	case p == nil:
		fmt.Fprintf(&d.b, "%s%s: %s\n", indent, x.path, moduleName(x))
	case d.counted[p]:
		fmt.Fprintf(&d.b, "%s%s is %s\n", indent, last, p)
	default:
		d.counted[p] = true
		fmt.Fprintf(&d.b, "%s%s %s", indent, last, p.typ)
		switch {
		case p.buffer:
			d.b.WriteString(", a buffer")
		case p.frozen:
			d.b.WriteString(", frozen")
		}
		d.b.WriteByte('\n')
	}
}

func (d *describer) total(m any) string {
	buffers := 0
	for _, b := range Buffers(m) {
		shape, _ := b.p.typ.Static()
		n, _ := ir.CheckedLen(shape)
		buffers += n
	}
	text := fmt.Sprintf("%d parameters", NumParams(m))
	if buffers > 0 {
		text += fmt.Sprintf(", %d elements of buffers", buffers)
	}
	return text + "\n"
}

func moduleName(x part) string {
	name := x.typ.Name()
	if name == "" {
		name = "struct"
	}
	var settings []string
	for i := range x.typ.NumField() {
		f := x.typ.Field(i)
		if text, ok := setting(x.module.Field(i)); ok && f.IsExported() {
			settings = append(settings, f.Name+": "+text)
		}
	}
	if x.module.CanInterface() {
		if s, ok := x.module.Interface().(interface{ settings() string }); ok {
			settings = append(settings, s.settings())
		}
	}
	if len(settings) == 0 {
		return name
	}
	return name + "{" + strings.Join(settings, ", ") + "}"
}

// setting formats a field of type bool, int, int64, float32, float64 or string, or returns the name
// of a function. It returns false for other fields and for nil.
func setting(v reflect.Value) (string, bool) {
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.Float32, reflect.String:
		return fmt.Sprint(v), true
	case reflect.Func:
		if v.IsNil() {
			return "", false
		}
		name := runtime.FuncForPC(v.Pointer()).Name()
		return name[strings.LastIndexByte(name, '/')+1:], true
	}
	return "", false
}

// settings formats the kernel of the window, and all other options that differ from their defaults.
func (w window) settings() string {
	text := fmt.Sprintf("kernel: %v", w.kernel)
	for _, o := range []struct {
		name string
		list []int
		def  int
	}{{"stride", w.stride, 1}, {"padding", w.padding, 0}, {"dilation", w.dilation, 1}, {"output padding", w.outPadding, 0}} {
		for _, n := range o.list {
			if n != o.def {
				text += fmt.Sprintf(", %s: %v", o.name, o.list)
				break
			}
		}
	}
	if w.groups > 1 {
		text += fmt.Sprintf(", groups: %d", w.groups)
	}
	if w.same {
		text += ", same"
	}
	return text
}

func (c Conv1d) settings() string          { return c.window.settings() }
func (c Conv2d) settings() string          { return c.window.settings() }
func (c Conv3d) settings() string          { return c.window.settings() }
func (c ConvTranspose1d) settings() string { return c.window.settings() }
func (c ConvTranspose2d) settings() string { return c.window.settings() }
func (c ConvTranspose3d) settings() string { return c.window.settings() }
func (c DeformConv2d) settings() string    { return c.window.settings() }
func (p Pool) settings() string {
	if p.sizes != nil {
		return fmt.Sprintf("%s, sizes: %v", p.kind, p.sizes)
	}
	return p.kind + ", " + p.window.settings()
}

package ir

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// String returns m in the text form.
func (m *Module) String() string {
	var b strings.Builder
	for _, w := range m.Weights {
		fmt.Fprintf(&b, "weight %s : %s\n", quoteName(w.Name), w.Type)
	}
	for i, f := range m.Funcs {
		if i > 0 || len(m.Weights) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.String())
	}
	return b.String()
}

// String returns f in the text form.
func (f *Func) String() string {
	var b strings.Builder
	scope := ""
	if len(f.Scope) > 0 {
		scope = "[" + strings.Join(f.Scope, ",") + "]"
	}
	fmt.Fprintf(&b, "func @%s%s(%s) -> (", quoteName(f.Name), scope, printParams(f.Params))
	for i, r := range f.Results {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", quoteName(f.ResultNames[i]), r.Type)
	}
	b.WriteString(") {\n")
	printBody(&b, &f.Block, 1)
	b.WriteString("}\n")
	return b.String()
}

func printParams(params []*Value) string {
	items := make([]string, len(params))
	for i, p := range params {
		items[i] = fmt.Sprintf("%s: %s", p, p.Type)
	}
	return strings.Join(items, ", ")
}

func printBody(w io.Writer, b *Block, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, n := range b.Nodes {
		line := n.Text()
		if n.Pos != "" {
			line += "  // " + printPos(n.Pos)
		}
		fmt.Fprintf(w, "%s%s\n", indent, line)
		for _, inner := range n.Blocks {
			fmt.Fprintf(w, "%s  region (%s) {\n", indent, printParams(inner.Params))
			printBody(w, inner, depth+2)
			fmt.Fprintf(w, "%s  }\n", indent)
		}
	}
	fmt.Fprintf(w, "%sreturn", indent)
	if len(b.Results) > 0 {
		fmt.Fprintf(w, " %s", printValues(b.Results))
	}
	fmt.Fprintln(w)
}

// Text returns the line of n in the text form, without its position and blocks.
func (n *Node) Text() string {
	var b strings.Builder
	if len(n.Results) > 0 {
		fmt.Fprintf(&b, "%s = ", printValues(n.Results))
	}
	b.WriteString(OpName(n.Op))
	if len(n.Args) > 0 {
		b.WriteByte(' ')
		b.WriteString(printValues(n.Args))
	}
	if attrs := printAttrs(reflect.ValueOf(n.Op)); attrs != "" {
		fmt.Fprintf(&b, " {%s}", attrs)
	}
	for i, r := range n.Results {
		b.WriteString([]string{" : ", ", "}[min(i, 1)])
		b.WriteString(r.Type.String())
	}
	return b.String()
}

func printValues(values []*Value) string {
	items := make([]string, len(values))
	for i, v := range values {
		items[i] = v.String()
	}
	return strings.Join(items, ", ")
}

// String returns v's name in the text form, or "_" for an absent operand.
func (v *Value) String() string {
	if v == nil {
		return "_"
	}
	return "%" + quoteName(v.Name)
}

func quoteName(name string) string {
	for i := range len(name) {
		if !isWordByte(name[i]) {
			return strconv.QuoteToASCII(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

func printPos(pos string) string {
	for i := range len(pos) {
		if pos[i] < ' ' || pos[i] > '~' {
			return strconv.QuoteToASCII(pos)
		}
	}
	if strings.HasPrefix(pos, `"`) || strings.TrimSpace(pos) != pos {
		return strconv.QuoteToASCII(pos)
	}
	return pos
}

func isWordByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

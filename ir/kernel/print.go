package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
)

// String returns the kernel in the text form that [Parse] describes and reads.
func (k *Kernel) String() string {
	var b strings.Builder
	if k.Doc != "" {
		fmt.Fprintf(&b, "// %s\n", k.Doc)
	}
	fmt.Fprintf(&b, "kernel %s(", k.Name)
	for i, p := range k.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s%s%s", p, p.Type, p.Map, written(p))
	}
	early := ""
	if k.Early {
		early = "early "
	}
	fmt.Fprintf(&b, ") %sblock %d, %d, %d {\n", early, k.Block[0], k.Block[1], k.Block[2])
	for _, v := range k.Shared {
		if v.Type.Space == Phases {
			fmt.Fprintf(&b, "  phases %s[%d] of %d\n", v, v.Len, v.Arrivals)
			continue
		}
		fmt.Fprintf(&b, "  shared %s: %s[%d]%s\n", v, v.Type.DType, v.Len, written(v))
	}
	for _, v := range k.Sums {
		fmt.Fprintf(&b, "  sums %s: %s[%d]\n", v, v.Type.DType, v.Len)
	}
	k.Body.print(&b, "  ")
	b.WriteString("}\n")
	return b.String()
}

func written(v *Value) string {
	if v.Written {
		return " written"
	}
	return ""
}

func (b *Block) print(w *strings.Builder, indent string) {
	for _, in := range b.Instrs {
		w.WriteString(indent)
		in.print(w)
		for i, inner := range in.Blocks {
			if in.Op == If && i == 1 {
				if len(inner.Instrs)+len(inner.Yields) == 0 {
					continue
				}
				w.WriteString(" else")
			}
			if in.Op == While && i == 1 {
				w.WriteString(" do")
				values(w, " ", inner.Params)
			}
			w.WriteString(" {\n")
			inner.print(w, indent+"  ")
			w.WriteString(indent + "}")
		}
		w.WriteByte('\n')
	}
	if len(b.Yields) > 0 {
		w.WriteString(indent + "yield")
		values(w, " ", b.Yields)
		w.WriteByte('\n')
	}
}

// String returns the instruction in the text form, without its blocks.
func (in *Instr) String() string {
	var b strings.Builder
	in.print(&b)
	return b.String()
}

func (in *Instr) print(w *strings.Builder) {
	values(w, "", in.Results)
	if len(in.Results) > 0 {
		w.WriteString(" = ")
	}
	w.WriteString(in.Op.String())
	rest := in.Args
	switch {
	case in.Op == Const && len(in.Results) == 1:
		w.WriteString(" " + number(in.Results[0].Type.DType, in.Bits))
	case in.Op == ThreadIdx || in.Op == BlockIdx:
		w.WriteString(" " + axis(in.Dim))
	case in.Op == Registers || in.Op == Drain:
		fmt.Fprintf(w, " %d", in.Count)
	case (in.Op == Sum || in.Op == SetSum) && len(rest) >= 1:
		fmt.Fprintf(w, " %s[%d]", rest[0], in.Count)
		values(w, ", ", rest[1:])
	case in.Op == Shuffle && len(rest) == 1:
		fmt.Fprintf(w, " %s by %d", rest[0], in.Count)
	case accesses(in.Op) && len(rest) >= 2:
		fmt.Fprintf(w, " %s[%s]", rest[0], rest[1])
		values(w, ", ", rest[2:])
		if in.AcrossA {
			w.WriteString(" across_a")
		}
		if in.AcrossB {
			w.WriteString(" across_b")
		}
	case in.Op == For && len(rest) >= 3 && len(in.Blocks) == 1 && len(in.Blocks[0].Params) == len(rest)-2:
		p := in.Blocks[0].Params
		fmt.Fprintf(w, " %s = %s to %s by %s", p[0], rest[0], rest[1], rest[2])
		carry(w, p[1:], rest[3:])
		if in.Unroll != 0 {
			fmt.Fprintf(w, " unroll %d", in.Unroll)
		}
	case in.Op == While && len(in.Blocks) == 2 && len(in.Blocks[0].Params) == len(rest):
		carry(w, in.Blocks[0].Params, rest)
	default:
		values(w, " ", rest)
	}
	if in.Op == Load && len(in.Results) > 1 {
		fmt.Fprintf(w, " : %s", in.Results[0].Type)
		return
	}
	for i, r := range in.Results {
		fmt.Fprintf(w, "%s%s", []string{" : ", ", "}[min(i, 1)], r.Type)
	}
}

// accesses reports whether the first two operands of an operation are a pointer and an index.
func accesses(o Op) bool {
	switch o {
	case Load, Store, Arrive, Await, CopyBox, MultiplyTiles, MultiplyHeld:
		return true
	}
	return o < numOps && ops[o].kind == atomic
}

func carry(w *strings.Builder, params, first []*Value) {
	for i, p := range params {
		fmt.Fprintf(w, "%s%s = %s", []string{" carry ", ", "}[min(i, 1)], p, first[i])
	}
}

func values(w *strings.Builder, prefix string, list []*Value) {
	for i, v := range list {
		if i > 0 {
			prefix = ", "
		}
		w.WriteString(prefix)
		w.WriteString(v.String())
	}
}

// String returns the name of the value in the text form.
func (v *Value) String() string {
	if v == nil {
		return "%?"
	}
	return "%" + v.Name
}

func axis(dim int) string {
	if dim < 0 || dim > 2 {
		return strconv.Itoa(dim)
	}
	return "xyz"[dim : dim+1]
}

// number returns the text form of a constant: a word such as true or inf, or a decimal number. If there is no such
// text for exactly these bits, it returns the bits in hexadecimal.
func number(d ir.DType, bits uint64) string {
	switch {
	case d == ir.Bool && bits <= 1:
		return strconv.FormatBool(bits == 1)
	case d.IsInt() && bits == mask(bits, d) && d.Class() == ir.Signed:
		return strconv.FormatInt(wholeOf(d, bits), 10)
	case d.IsInt() && bits == mask(bits, d):
		return strconv.FormatUint(bits, 10)
	case classOf(d) == floats && bits == mask(bits, d):
		switch x := floatOf(d, bits); {
		case math.IsInf(x, 1):
			return "inf"
		case math.IsInf(x, -1):
			return "-inf"
		case x == x:
			return strconv.FormatFloat(x, 'g', -1, d.Bits())
		}
	}
	return "0x" + strconv.FormatUint(bits, 16)
}

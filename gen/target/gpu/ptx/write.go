// Package ptx writes kernels as PTX, the assembly language that CUDA drivers compile for the device
// at hand. It knows the instructions of PTX and what they compute; it does not know any operator,
// and it does not choose how a kernel works.
package ptx

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir/kernel"
)

// head begins every module. Conversions to bf16 need version 7.0 and sm_80.
const head = `.version 7.4
.target sm_80
.address_size 64
`

// pipelinedHead begins a module with pipelined kernels. Their instructions exist on sm_90 only.
const pipelinedHead = `.version 8.0
.target sm_90a
.address_size 64
`

// Limits of every device since sm_80: threads of a block, and bytes of shared arrays.
const (
	maxThreads = 1024
	maxShared  = 48 << 10 // bytes of arrays that a kernel declares
)

// Write returns the text of a PTX module with these kernels, which have been verified. Every
// parameter takes 8 bytes: an address, an integer, or the bits of a float, in the low bytes. Two
// pointer parameters may point to the same memory.
//
// If a kernel is pipelined, the module is for devices of capability 9.0 only. A parameter that is a [kernel.Map]
// then takes 128 bytes, which the driver encodes. Launches of a pipelined kernel have [Dynamic] bytes of shared
// memory.
//
// It returns an error if PTX cannot express a kernel, or if the shared arrays of a kernel that is not pipelined
// exceed 48 KiB.
func Write(kernels ...*kernel.Kernel) (string, error) {
	var text strings.Builder
	if slices.ContainsFunc(kernels, (*kernel.Kernel).IsPipelined) {
		text.WriteString(pipelinedHead + "\n.extern .shared .align 16 .b8 " + dynamic + "[];\n")
	} else {
		text.WriteString(head)
	}
	names := map[string]bool{}
	for _, k := range kernels {
		if names[k.Name] {
			return "", fmt.Errorf("kernel %s: another kernel has the same name", k.Name)
		}
		names[k.Name] = true
		entry, err := write(k)
		if err != nil {
			return "", fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		text.WriteString("\n" + entry)
	}
	return text.String(), nil
}

// identifier matches the names that kernels may have. It excludes the characters that this package
// uses in its own names.
var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func write(k *kernel.Kernel) (string, error) {
	switch threads := k.Block[0] * k.Block[1] * k.Block[2]; {
	case !identifier.MatchString(k.Name):
		return "", errors.New("the name is not an identifier")
	case reserved[k.Name]:
		return "", errors.New("the name is a word of PTX")
	case k.IsPipelined() && (k.Block[1] > 1 || k.Block[2] > 1):
		return "", errors.New("the block of a pipelined kernel has one dimension")
	case threads < 1 || threads > maxThreads:
		return "", fmt.Errorf("blocks of %d threads, want 1 to %d", threads, maxThreads)
	}
	w := newWriter(k)
	w.block(k.Body)
	w.emit("ret")
	if w.err != nil {
		return "", w.err
	}

	var text strings.Builder
	if k.Doc != "" {
		fmt.Fprintf(&text, "// %s\n", comment(k.Doc))
	}
	fmt.Fprintf(&text, "// %s\n.visible .entry %s(", signature(k), k.Name)
	for i, p := range k.Params {
		if i > 0 {
			text.WriteString(",")
		}
		if p.Map != nil {
			fmt.Fprintf(&text, "\n\t.param .align 64 .b8 %s[128]", w.symbols[p])
			continue
		}
		fmt.Fprintf(&text, "\n\t.param .u64 %s", w.symbols[p])
	}
	if k.IsPipelined() {
		fmt.Fprintf(&text, "\n)\n.maxntid %d, 1, 1\n.minnctapersm 1\n{\n", k.Block[0])
	} else {
		fmt.Fprintf(&text, "\n)\n.reqntid %d, %d, %d\n{\n", k.Block[0], k.Block[1], k.Block[2])
	}
	shared := 0
	for _, s := range k.Shared {
		if k.IsPipelined() {
			break // they are dynamic
		}
		n := s.Len * s.Type.DType.Size()
		shared = (shared+15)&^15 + n
		fmt.Fprintf(&text, "\t.shared .align 16 .b8 %s[%d]; // %d of %s\n", w.symbols[s], n, s.Len, s.Type.DType)
	}
	if shared > maxShared {
		return "", fmt.Errorf("shared arrays of %d bytes, at most %d are possible", shared, maxShared)
	}
	text.WriteString(w.declarations())
	text.WriteString("\n" + w.text.String() + "}\n")
	return text.String(), nil
}

func signature(k *kernel.Kernel) string {
	var params []string
	for _, p := range k.Params {
		params = append(params, comment(p.Name)+" "+p.Type.String())
	}
	return fmt.Sprintf("%s(%s), blocks of %d x %d x %d threads", k.Name, strings.Join(params, ", "), k.Block[0], k.Block[1], k.Block[2])
}

// ascii replaces characters of formulas. PTX is in ASCII.
var ascii = strings.NewReplacer("·", "*", "×", "x", "−", "-", "≤", "<=", "≥", ">=", "≠", "!=", "…", "...")

func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, ascii.Replace(strings.Join(strings.Fields(s), " ")))
}

func symbol(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// reserved are the words that cannot name a kernel: the instructions of PTX, and its constant WARP_SZ.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`WARP_SZ abs activemask add addc alloca and applypriority atom bar barrier bfe bfi
		bfind bmsk bra brev brkpt brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div
		dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24
		madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc
		prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st
		stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq
		vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2
		vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor`) {
		words[word] = true
	}
	return words
}()

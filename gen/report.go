package gen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// Report returns a summary of the compilation in a few lines.
func (m *Model) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d nodes → %d calls", m.Source.File, m.Source.Format, m.Source.Nodes, len(m.Forward.Steps))
	if n := m.Parameters(); n > 0 {
		fmt.Fprintf(&b, ", %s parameters", Count(n))
	}
	if flops, at := m.Flops(); flops > 0 {
		fmt.Fprintf(&b, ", %s%s", flopsText(flops), at)
	}
	b.WriteString("\n")
	if done := m.did(); done != "" {
		fmt.Fprintf(&b, "  %s\n", done)
	}
	b.WriteString(m.DeviceReport())
	fmt.Fprintf(&b, "  %s; %s\n", m.Arena(), m.weightsText())
	if m.Source.Fitted != nil {
		fmt.Fprintf(&b, "  %s\n", m.fittedText())
	}
	for _, r := range m.Recomputed {
		if r.Values > 0 {
			fmt.Fprintf(&b, "  %s\n", recomputedText(r))
		}
	}
	return b.String()
}

// DeviceReport returns a line for each function of the model and for each training step. The line has the number of
// GPU kernels, the number of launches, and the operators that the host computes. DeviceReport returns "" for targets
// without a device.
func (m *Model) DeviceReport() string {
	t, ok := m.options.Target.(gpu.Target)
	if !ok {
		return ""
	}
	functions := slices.Clone(m.Functions)
	if m.Training != nil {
		for _, s := range m.Training.Steps {
			functions = append(functions, s.Func)
		}
	}
	var b strings.Builder
	for _, f := range functions {
		name := t.Name()
		if t.Precision != gpu.F32 {
			name += " in " + t.Precision.String()
		}
		if len(functions) > 1 {
			name += " @" + f.IR.Name
		}
		fmt.Fprintf(&b, "  %s: %s\n", name, useText(t.Use(f)))
	}
	return b.String()
}

// Rounding returns the largest difference that is expected between two results of Forward: one in the target's
// precision, and one whose products are computed in f32. The difference of an element is divided by the root mean
// square of the result, or by the element's magnitude if that is larger. The result is rounded to 4 digits, and is
// 0 if the precision is f32.
func (m *Model) Rounding() float64 { return m.rounding(m.Forward) }

func (m *Model) rounding(f *program.Func) float64 {
	t, ok := m.options.Target.(gpu.Target)
	if !ok {
		return 0
	}
	rounding, _ := strconv.ParseFloat(strconv.FormatFloat(t.Precision.Rounding(m.Module, f.IR), 'g', 4, 64), 64)
	return rounding
}

// OnGPU reports whether the model is compiled for a GPU.
func (m *Model) OnGPU() bool {
	_, ok := m.options.Target.(gpu.Target)
	return ok
}

// Device returns the name of the target and the precision of products if the model is compiled for a GPU. Otherwise
// both are "".
func (m *Model) Device() (target, precision string) {
	t, ok := m.options.Target.(gpu.Target)
	if !ok {
		return "", ""
	}
	return t.Name(), t.Precision.String()
}

func useText(u gpu.Use) string {
	total := 0
	var host []string
	for _, name := range slices.Sorted(maps.Keys(u.Host)) {
		n := u.Host[name]
		if total += n; n > 1 {
			name += fmt.Sprintf(" ×%d", n)
		}
		host = append(host, name)
	}
	text := fmt.Sprintf("%s of %s, %s on the host", counted(u.Launches, "launch", "launches"), counted(u.Kernels, "kernel", "kernels"), counted(total, "node", "nodes"))
	if total > 0 {
		text += ": " + strings.Join(host, ", ")
	}
	return text
}

func counted(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

func (m *Model) fittedText() string {
	f := m.Source.Fitted
	var b strings.Builder
	fmt.Fprintf(&b, "%d tensors from %s", len(f.Names())-len(f.Own), m.Source.From)
	for _, did := range []struct {
		names []string
		what  string
	}{
		{f.Transposed, "transposed"}, {f.Converted, "converted"}, {f.Own, "not in it, and the model's own"}, {f.Unused, "in it not used"},
	} {
		if n := len(did.names); n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, did.what)
		}
	}
	return b.String()
}

func recomputedText(r pass.Recomputed) string {
	at := ""
	if r.IsScaled {
		at = fmt.Sprintf(", with %d for symbols", pass.RematExtent)
	}
	return fmt.Sprintf("recomputed %d values in @%s: arena %s → %s%s", r.Values, r.Func, Bytes(r.Before), Bytes(r.After), at)
}

func (m *Model) weightsText() string {
	size, where := Bytes(m.WeightsSize()), "in the program"
	switch s := m.store().(type) {
	case emit.Drawn:
		return fmt.Sprintf("weights %s, drawn by New", size)
	case emit.Existing:
		return fmt.Sprintf("weights %s, where they are in %s", size, s.File)
	case emit.Beside:
		where = "beside it"
	}
	return fmt.Sprintf("weights %s %s, %s %s → %s, %s", Bytes(m.sourceSize()), m.weightsFrom(), size, m.became(), m.weightsFile(), where)
}

func (m *Model) weightsFrom() string {
	if m.Source.From != "" {
		return "from " + m.Source.From
	}
	return "in " + m.Source.File
}

func (m *Model) became() string {
	var names []string
	keep := m.store().Form()
	if keep.HasRaw() {
		names = m.Raw.Names()
	}
	if keep.HasPrepared() {
		for _, w := range m.kept() {
			names = append(names, w.Name)
		}
	}
	var own, prepared bool
	masters, constants := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, rt.PreparedPrefix):
			prepared = true
		case strings.HasPrefix(name, masterPrefix):
			masters[name] = true
		case m.isConstant(name):
			constants[name] = true
		default:
			own = true
		}
	}
	var kinds, parts []string
	if own || !prepared {
		kinds = append(kinds, "as they are")
	}
	if prepared {
		kinds = append(kinds, "prepared for the kernels")
	}
	for _, part := range []struct {
		n          int
		format     string
		isPrepared bool
	}{
		{m.Stats[pass.NarrowedWeights], "%d rounded to " + m.options.WeightsDType.String(), true}, {m.Stats[pass.SharedWeights], "%d shared", true},
		{len(masters), "%d copied to f32", false}, {len(constants), "%d constants added", false},
	} {
		if part.n > 0 && (prepared || !part.isPrepared) {
			parts = append(parts, fmt.Sprintf(part.format, part.n))
		}
	}
	return strings.Join(append([]string{strings.Join(kinds, " and ")}, parts...), ", ")
}

// passesDid lists the counts of passes in order, with their texts.
var passesDid = []struct{ verb, stat, what string }{
	{"folded", pass.FoldedConstants, "constants"},
	{"folded", pass.FoldedBatchNorms, "BatchNorm"},
	{"folded", pass.FoldedAffines, "products and sums into weights"},
	{"recognized", pass.FusedNorms, "normalizations"},
	{"recognized", pass.FusedFormulas, "activations"},
	{"recognized", pass.FusedAttentions, "attentions"},
	{"fused", pass.FusedBiases, "biases"},
	{"fused", pass.FusedResiduals, "residuals"},
	{"fused", pass.FusedActivations, "activations"},
	{"fused", pass.FusedChains, "elementwise operators into kernels"},
	{"fused", pass.FusedPointwise, "elementwise operators into loops"},
	{"rounded", pass.NarrowedWeights, "weights to fewer bits"},
	{"shared", pass.SharedWeights, "weights"},
	{"outlined", pass.OutlinedBlocks, "repeated blocks"},
}

func (m *Model) did() string {
	var verbs []string
	list := map[string][]string{}
	for _, p := range passesDid {
		if n := m.Stats[p.stat]; n > 0 {
			if list[p.verb] == nil {
				verbs = append(verbs, p.verb)
			}
			list[p.verb] = append(list[p.verb], fmt.Sprintf("%d %s", n, p.what))
		}
	}
	for i, v := range verbs {
		verbs[i] = v + " " + strings.Join(list[v], ", ")
	}
	return strings.Join(verbs, "; ")
}

// Parameters returns the number of elements in the model's float weights.
func (m *Model) Parameters() int64 {
	var n int64
	for _, w := range m.Source.Module.Weights {
		if elems, ok := w.Type.Elems().Int(); ok && w.Type.DType.IsFloat() {
			n += int64(elems)
		}
	}
	return n
}

// Flops returns the number of floating-point operations of one call, with every symbolic extent set to
// 1. note names the symbols, as in " at N = 1". It is "" if there are no symbols. Operators that do not
// report their operations are not counted.
func (m *Model) Flops() (n int64, note string) {
	f := m.Source.Func()
	if symbols := f.Symbols(); len(symbols) > 0 {
		note = " at " + strings.Join(symbols, " = ") + " = 1"
	}
	return f.Flops(func(string) int64 { return 1 }), note
}

// Arena returns a description of the memory of a session.
func (m *Model) Arena() string {
	p := m.Forward.Plan
	size := func(d dim.Dim) string {
		if n, ok := d.Int(); ok {
			return Bytes(int64(n))
		}
		if coef, rest, ok := d.Linear(p.Symbol); ok && rest.Equal(dim.Dim{}) {
			if n, ok := coef.Int(); ok {
				return Bytes(int64(n)) + " × " + p.Symbol
			}
		}
		return ""
	}
	if s, live := size(p.Size), size(p.Live); p.Mode != plan.Dynamic && s != "" && live != "" {
		return fmt.Sprintf("arena %s (live set %s)", s, live)
	}
	return fmt.Sprintf("arena of %d buffers, sized by the arguments", len(p.Buffers))
}

// OperatorCounts returns the operators of the model with their counts, the most frequent first.
func (m *Model) OperatorCounts() []string {
	type count struct {
		name string
		n    int
	}
	var all []count
	for name, n := range m.Source.Operators {
		all = append(all, count{name, n})
	}
	slices.SortFunc(all, func(a, b count) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s ×%d", c.name, c.n))
	}
	return out
}

// Bytes formats a number of bytes with a suitable unit.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return scaled(n) + "B"
}

// Count formats a number with a suitable prefix: "25.6 M".
func Count(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return scaled(n)
}

// flopsText formats a number of floating-point operations: "8.2 GFLOP".
func flopsText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d FLOP", n)
	}
	return scaled(n) + "FLOP"
}

// scaled formats n, which is at least 1000, with a metric prefix: "8.2 G", "120 M".
func scaled(n int64) string {
	v := float64(n)
	for _, prefix := range []string{"k", "M", "G", "T", "P"} {
		if v /= 1000; v < 999.5 || prefix == "P" {
			digits := 1
			if v >= 99.95 {
				digits = 0
			}
			return fmt.Sprintf("%.*f %s", digits, v, prefix)
		}
	}
	return ""
}

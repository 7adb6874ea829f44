// Package golden holds texts that the compiler must reproduce, and the tests that compare them. A
// golden of a pass, pass/<pass>/*.txtar, has a module before and after the pass. Both are also
// evaluated, so that a golden cannot record a wrong rewrite.
package golden

import (
	"flag"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/rt"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestPass runs every golden of a pass. The section "pass" names the pass, and options may follow:
// "near" compares floats with a tolerance, for passes that change rounding; "strict" sets
// [pass.Context.Strict]; "f16" sets its WeightsDType, and the precision of a GPU as "bf16" does; "trains" makes @forward a function that
// trains; "all" sets Remat; "methods" makes all functions methods of one type.
func TestPass(t *testing.T) {
	files, err := filepath.Glob("pass/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "pass/"), ".txtar")
		t.Run(name, func(t *testing.T) { runPass(t, file) })
	}
}

func TestEveryPassHasGoldens(t *testing.T) {
	all := slices.Concat(pass.Canonical, pass.Naming)
	for _, t := range target.All {
		lowering := t.Lowering()
		all = slices.Concat(all, lowering.Passes, lowering.Outlining)
	}
	for _, p := range all {
		if files, _ := filepath.Glob("pass/" + p.Name + "/*.txtar"); len(files) == 0 {
			t.Errorf("pass/%s has no golden", p.Name)
		}
	}
}

// allOps has the operators of all targets.
var allOps = ir.NewOpSet(slices.Concat(ir.Builtin(), op.Ops, storage.Ops, last.Ops)...)

func runPass(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(section(t, archive, "pass"))
	targets := []pass.Target{text.Target{}} // plans functions that are not lowered
	var precision gpu.Precision
	for _, w := range words[1:] {
		precision.Set(w)
	}
	for _, t := range target.All {
		at, _ := target.At(t, precision)
		targets = append(targets, at)
	}
	var p pass.Pass
	ok := false
	for _, t := range targets {
		if !ok {
			p, ok = pass.Find(t, words[0])
		}
	}
	if !ok || p.Name != filepath.Base(filepath.Dir(file)) {
		t.Fatalf("%q is not a pass of this folder", words[0])
	}
	before, err := ir.Parse(section(t, archive, "in.ir"), allOps)
	if err != nil {
		t.Fatal(err)
	}
	fillWeights(before)
	after := before.Clone()
	ctx := &pass.Context{Target: cpu.Target{}, Strict: slices.Contains(words, "strict")}
	if slices.Contains(words, "f16") {
		ctx.WeightsDType = ir.F16
	}
	if slices.Contains(words, "trains") {
		ctx.Trained = []string{pass.Forward}
	}
	if slices.Contains(words, "methods") {
		ctx.Prepared, ctx.Gradient = nil, "grad/"
		for _, f := range after.Funcs {
			ctx.Prepared = append(ctx.Prepared, f.Name)
		}
	}
	if slices.Contains(words, "all") {
		ctx.Remat = pass.RematAll
	}
	if err := pass.Run(ctx, after, []pass.Pass{p}, pass.Options{}); err != nil {
		t.Fatal(err)
	}
	again, err := ir.Parse(after.String(), allOps)
	if err != nil || again.String() != after.String() {
		t.Errorf("the result does not read as it prints: %v", err)
	}
	compareModules(t, before, after, slices.Contains(words, "near"), precision.Rounding(before, before.Func(pass.Forward)))
	if *update {
		setSection(archive, "out.ir", after.String())
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := section(t, archive, "out.ir"); after.String() != want {
		t.Errorf("the result differs; got\n%s\nwant\n%s", after, want)
	}
}

func section(t *testing.T, a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	if !*update {
		t.Fatalf("no section %q", name)
	}
	return ""
}

func setSection(a *txtar.Archive, name, text string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
}

// compareModules evaluates @forward of two modules on the same inputs, for some
// values of the symbols. rounding is that of products, see [gpu.Precision.Rounding].
func compareModules(t *testing.T, before, after *ir.Module, near bool, rounding float64) {
	for _, m := range []*ir.Module{before, after} {
		if err := prepareWeights(m); err != nil {
			t.Errorf("prepare: %v", err)
			return
		}
	}
	f, g := before.Func(pass.Forward), after.Func(pass.Forward)
	compared := 0
	for choice := range 6 {
		args := inputs(f, choice, !near && rounding == 0)
		want, err := (&ir.Evaluator{Module: before}).Run(f, args)
		if err != nil {
			continue // these extents do not fit
		}
		compared++
		got, err := (&ir.Evaluator{Module: after}).Run(g, args)
		if err != nil {
			t.Errorf("after the pass: %v", err)
			return
		}
		for i := range want {
			if !equalTensors(got[i], want[i], near) && !isRounded(got[i], want[i], rounding) {
				t.Errorf("result %q is %s, before the pass %s", f.ResultNames[i], got[i], want[i])
			}
		}
	}
	if compared == 0 {
		t.Error("the module before the pass cannot be evaluated")
	}
}

// prepareWeights gives the weights that @prepare computes their data.
func prepareWeights(m *ir.Module) error {
	f := m.Func(pass.Prepare)
	if f == nil {
		return nil
	}
	out, err := (&ir.Evaluator{Module: m}).Run(f, nil)
	for i, t := range out {
		m.Weight(f.ResultNames[i]).Data = t.Bytes()
	}
	return err
}

// fillWeights gives every weight data that depends on its name. The numbers are positive, because a
// variance must be.
func fillWeights(m *ir.Module) {
	for _, w := range m.Weights {
		h := fnv.New32a()
		h.Write([]byte(w.Name))
		shape, _ := w.Type.Static()
		w.Data = draw(w.Type.DType, shape, h.Sum32(), 0.25, 1.75).Bytes()
	}
}

// inputs returns arguments for f. Symbols have small values, which depend on choice. With special,
// some elements are special floats.
func inputs(f *ir.Func, choice int, special bool) []*ir.Tensor {
	symbols := f.Symbols()
	env := func(s string) (dim.Dim, bool) {
		i := slices.Index(symbols, s)
		return dim.Const([]int{3, 1, 2, 5, 4, 7}[(choice*(i+1)+i/3)%6]), i >= 0
	}
	args := make([]*ir.Tensor, len(f.Params))
	for i, p := range f.Params {
		shape, _ := p.Type.Subst(env).Static()
		args[i] = draw(p.Type.DType, shape, uint32(i), -2, 2)
		if special && p.Type.DType.IsFloat() {
			values := []float64{math.Copysign(0, -1), math.Inf(1), math.NaN(), 0, math.Inf(-1)}
			for k := 3; k < args[i].Len(); k += 4 {
				args[i].SetFloat(k, values[k/4%len(values)])
			}
		}
	}
	return args
}

// draw returns a tensor of floats between lo and hi, or of small integers.
func draw(d ir.DType, shape []int, seed uint32, lo, hi float64) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i := range t.Len() {
		h := rt.Hash(seed, uint32(i))
		switch {
		case d.IsFloat():
			t.SetFloat(i, lo+(hi-lo)*float64(h>>8)/(1<<24))
		case d == ir.Bool:
			t.SetBool(i, h>>31 != 0)
		case d.IsInt():
			t.SetInt(i, int64(h>>29))
		}
	}
	return t
}

// isRounded reports whether got differs from want by a share of the element and the root mean square at most.
func isRounded(got, want *ir.Tensor, share float64) bool {
	if share == 0 || !got.DType.IsFloat() || got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return false
	}
	squares := 0.0
	for i := range want.Len() {
		squares += want.Float(i) * want.Float(i)
	}
	rms := math.Sqrt(squares / float64(max(want.Len(), 1)))
	for i := range want.Len() {
		if !(math.Abs(got.Float(i)-want.Float(i)) <= share*(rms+math.Abs(want.Float(i)))) {
			return false
		}
	}
	return true
}

func equalTensors(a, b *ir.Tensor, near bool) bool {
	if !near || !a.DType.IsFloat() || a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
		return a.Equal(b)
	}
	for i := range a.Len() {
		x, y := a.Float(i), b.Float(i)
		if x != y && !(math.Abs(x-y) <= 1e-5*max(1, math.Abs(x), math.Abs(y))) && !(x != x && y != y) {
			return false
		}
	}
	return true
}

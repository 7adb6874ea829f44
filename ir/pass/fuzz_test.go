package pass_test

import (
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// FuzzFold runs the passes on any module that can be read. They must end without a panic, stay
// within the folding budget, and not change the results.
func FuzzFold(f *testing.F) {
	for _, pattern := range []string{"../../golden/pass/*/*.txtar", "../../golden/gen/*.txtar"} {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files: %v", pattern, len(files), err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for _, section := range archive.Files {
				if _, err := ir.Parse(string(section.Data), storage.Set); err == nil {
					f.Add(string(section.Data))
				}
			}
		}
	}
	for _, c := range [][2]string{
		{"i64[3]", `%c = constant {value=i64[3](1,-9223372036854775808,9223372036854775807)} : i64[3]
  %d = div %c, %c : i64[3]`},
		{"i64[2]", `%c = constant {value=f32[2](nan,inf)} : f32[2]
  %d = cast %c {to=i64} : i64[2]`},
		{"string[1]", `%c = constant {value=string[1]("a")} : string[1]
  %d = string_concat %c, %c : string[1]`},
	} {
		f.Add("func @forward() -> (y: " + c[0] + ") {\n  " + c[1] + "\n  return %d\n}\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		defer time.AfterFunc(time.Minute, func() { panic("still running after a minute") }).Stop()
		m, err := ir.Parse(text, storage.Set)
		if err != nil || ir.Verify(m) != nil {
			return
		}
		f := m.Func(pass.Forward)
		if f == nil || m.Func(pass.Prepare) != nil || len(m.Funcs) > 1 || !isSmall(m) {
			return
		}
		for i, w := range m.Weights {
			shape, _ := w.Type.Static()
			w.Data = filled(w.Type.DType, shape, i).Bytes()
		}
		before := m.Clone()
		if err := pass.All(&pass.Context{Target: cpu.Target{}, FoldBudget: 1 << 20}, m, pass.Options{Outline: true}); err != nil {
			return // no kernel computes this
		}
		evaluateBoth(t, before, m)
	})
}

// isSmall reports whether every value of a module is a tensor of few elements when symbols are 2,
// and no node is a loop.
func isSmall(m *ir.Module) bool {
	small := func(t ir.Type) bool {
		shape, ok := t.Subst(func(string) (dim.Dim, bool) { return dim.Const(2), true }).Static()
		n, err := ir.CheckedLen(shape)
		return t.IsTensor() && ok && err == nil && n <= 1<<12
	}
	for _, w := range m.Weights {
		if !small(w.Type) || w.Type.DType == ir.String {
			return false
		}
	}
	f := m.Func(pass.Forward)
	for _, p := range f.Params {
		if !small(p.Type) {
			return false
		}
	}
	nodes := 0
	for n := range f.All() {
		if _, loop := n.Op.(op.Loop); loop || pass.IsRandom(n.Op) {
			return false
		}
		for _, r := range n.Results {
			if !small(r.Type) {
				return false
			}
		}
		nodes++
	}
	return nodes < 200
}

// filled returns a tensor of small numbers.
func filled(d ir.DType, shape []int, seed int) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i := range t.Len() {
		if d != ir.String {
			t.SetNumber(i, float64((i+seed)%3))
		}
	}
	return t
}

// evaluateBoth evaluates a module before and after the passes. If one of the two returns an error,
// the other may return another result: passes may change the order in which errors are found.
func evaluateBoth(t *testing.T, before, after *ir.Module) {
	if prepare := after.Func(pass.Prepare); prepare != nil {
		out, err := (&ir.Evaluator{Module: after}).Run(prepare, nil)
		if err != nil {
			return
		}
		for i, w := range out {
			after.Weight(prepare.ResultNames[i]).Data = w.Bytes()
		}
	}
	var args []*ir.Tensor
	for i, p := range before.Func(pass.Forward).Params {
		shape, _ := p.Type.Subst(func(string) (dim.Dim, bool) { return dim.Const(2), true }).Static()
		args = append(args, filled(p.Type.DType, shape, i))
	}
	want, err := (&ir.Evaluator{Module: before}).Run(before.Func(pass.Forward), args)
	got, errAfter := (&ir.Evaluator{Module: after}).Run(after.Func(pass.Forward), args)
	if err != nil || errAfter != nil {
		if err == nil {
			t.Fatalf("%v\nbefore\n%s\nafter\n%s", errors.Join(errAfter), before, after)
		}
		return
	}
	rounds := roundsNarrowly(before)
	for i, w := range want {
		if rounds && w.DType.IsFloat() {
			continue
		}
		if !similar(got[i], w) {
			t.Fatalf("result %d is %s, before %s\nbefore\n%s\nafter\n%s", i, got[i], w, before, after)
		}
	}
}

// roundsNarrowly reports whether a module computes floats of less than 32 bits. Passes leave out
// roundings to these, so results differ by more than errors of f32.
func roundsNarrowly(m *ir.Module) bool {
	for n := range m.Func(pass.Forward).All() {
		for _, r := range n.Results {
			if d := r.Type.DType; d.IsFloat() && d.Bits() < 32 {
				return true
			}
		}
	}
	return false
}

// similar compares tensors: floats as [near] does, where all of them are numbers.
func similar(a, b *ir.Tensor) bool {
	if !a.Type().Equal(b.Type()) {
		return false
	}
	if b.DType != ir.F32 && b.DType != ir.F64 {
		return b.DType.IsFloat() || a.Equal(b)
	}
	for i := range b.Len() {
		if v := b.Float(i); math.IsNaN(v) || math.Abs(v) > 1e6 {
			return true
		}
	}
	return near(a, b)
}

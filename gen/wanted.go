package gen

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// Wanted returns descriptions of the model's weights for matching them with a file.
func (s *Source) Wanted() []keys.Want {
	layouts, required := map[string]keys.Layout{}, map[string]bool{}
	for _, f := range s.Functions {
		noteLayouts(s.Module.Func(f.Name), layouts)
		for _, name := range append(Parameters(s.Module.Func(f.Name)), statistics(s.Module.Func(f.Name))...) {
			required[name] = true
		}
	}
	for name, layout := range layouts {
		if layout == mixed {
			delete(layouts, name)
		}
	}
	wanted := make([]keys.Want, len(s.Module.Weights))
	for i, w := range s.Module.Weights {
		shape, _ := w.Type.Static()
		wanted[i] = keys.Want{
			Name: w.Name, DType: w.Type.DType.String(), Shape: shape,
			Aliases: s.Aliases[w.Name], Layout: layouts[w.Name],
			Optional: s.Initial == nil && s.Params == nil && !required[w.Name] && !(w.Type.DType.IsFloat() && learned.MatchString(w.Name)),
		}
	}
	return wanted
}

// learned matches the names that frameworks give to learned parameters.
var learned = regexp.MustCompile(`(^|\.)(weight|bias|gamma|beta|running_mean|running_var|(weight|bias)_[ih]h(_l\d+)?(_reverse)?)$`)

// mixed stands for the layout of a weight that has no single layout: some products use it as [in,out] and others as
// [out,in], or it is used for something else than the second factor of a product.
const mixed keys.Layout = "-"

// noteLayouts records the layout of each weight that f uses only as a matrix of products. For other weights it
// records the layout [mixed].
func noteLayouts(f *ir.Func, layouts map[string]keys.Layout) {
	type matrix struct {
		name   string
		layout keys.Layout
	}
	of := map[*ir.Value]matrix{}
	turned := map[keys.Layout]keys.Layout{keys.InOut: keys.OutIn, keys.OutIn: keys.InOut}
	note := func(x matrix, layout keys.Layout) {
		if before := layouts[x.name]; before != "" && before != layout {
			layout = mixed
		}
		layouts[x.name] = layout
	}
	for n := range f.All() {
		switch o := n.Op.(type) {
		case ir.Load:
			of[n.Results[0]] = matrix{o.Name, keys.InOut}
			continue
		case op.Transpose:
			if x, ok := of[n.Args[0]]; ok && slices.Equal(o.Perm, []int{1, 0}) {
				of[n.Results[0]] = matrix{x.name, turned[x.layout]}
				continue
			}
		}
		for i, a := range n.Args {
			x, ok := of[a]
			if !ok {
				continue
			}
			layout := mixed
			if a.Type.Rank() == 2 && i == 1 {
				switch o := n.Op.(type) {
				case op.MatMul:
					layout = x.layout
				case op.Gemm:
					if layout = x.layout; o.TransB {
						layout = turned[layout]
					}
				}
			}
			note(x, layout)
		}
	}
	for _, r := range f.Results {
		if x, ok := of[r]; ok {
			note(x, mixed)
		}
	}
}

func statistics(f *ir.Func) []string {
	var names []string
	for n := range f.All() {
		for i, a := range n.Args {
			if a == nil || a.Def == nil || !op.IsStatistic(n.Op, i) {
				continue
			}
			if l, ok := a.Def.Op.(ir.Load); ok {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

// optional returns those weights in `wanted` that a file may lack, because the package has its own elements for them.
// It leaves out weights that the package does not read.
func (m *Model) optional(wanted []keys.Want) []keys.Want {
	read := map[string]bool{}
	for _, f := range append(slices.Clone(m.Functions), m.Prepare) {
		for n := range f.IR.All() {
			if l, ok := n.Op.(ir.Load); ok {
				read[l.Name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(w keys.Want) bool { return !w.Optional || !read[w.Name] })
}

// Foreign describes weights from a file. They replace a model's own weights.
type Foreign struct {
	File    string // name of the file in messages
	Weights *rt.Weights
	Keys    keys.Options
	// InPlace says that rt.OpenWeightsFile can open the file. A package that keeps raw weights
	// outside of the program then uses the file itself instead of a copy.
	InPlace bool
}

func (f *Foreign) isAsWanted(wanted []keys.Want) bool {
	return !slices.ContainsFunc(wanted, func(w keys.Want) bool {
		info, ok := f.Weights.Info(w.Name)
		return !ok || info.DType != w.DType || !slices.Equal(info.Shape, w.Shape)
	})
}

func (s *Source) with(f *Foreign) (*Source, error) {
	wanted := s.Wanted()
	fitted, err := f.Keys.Load(f.Weights, s.own, wanted)
	if err != nil {
		return nil, f.errors(err)
	}
	out := *s
	out.Initial, out.From, out.Fitted = nil, f.File, fitted
	out.InPlace = f.InPlace && f.Keys.Map.IsZero() && len(fitted.Transposed) == 0 && f.isAsWanted(wanted)
	out.Module = s.Module.Clone()
	for _, w := range out.Module.Weights {
		if _, ok := fitted.Info(w.Name); ok {
			exec.SetWeight(w, fitted.Weights)
		}
	}
	if err := fitted.Err(); err != nil {
		return nil, f.errors(err)
	}
	return &out, nil
}

func (f *Foreign) errors(err error) error {
	var errs []error
	for line := range strings.Lines(err.Error()) {
		errs = append(errs, fmt.Errorf("%s: %s", f.File, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "weights: ")))
	}
	return errors.Join(errs...)
}

// own returns the model's own weights: the weights with data, or the initial values of New(0).
func (s *Source) own() *rt.Weights {
	given := s.given()
	if s.Initial == nil {
		return given
	}
	return rt.InitialWeights(0, s.Initial, given)
}

func (s *Source) given() *rt.Weights {
	w := rt.NewWeights()
	for _, x := range s.Module.Weights {
		if x.Data != nil {
			exec.AddWeight(w, x)
		}
	}
	return w
}

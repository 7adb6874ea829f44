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

// Wanted returns the model's weights, as they are matched with those of a file.
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

// learned matches what frameworks call what they learn, whatever a model does with it.
var learned = regexp.MustCompile(`(^|\.)(weight|bias|gamma|beta|running_mean|running_var|(weight|bias)_[ih]h(_l\d+)?(_reverse)?)$`)

// mixed is the layout of a matrix that is not only a product's, or in both ways.
const mixed keys.Layout = "-"

// noteLayouts notes the layouts of weights that a function uses as matrices of products
// only, and those that it uses otherwise as mixed.
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

// statistics returns the weights that are running statistics of normalisations.
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

// optional returns those of the wanted weights that a file need not have and that the
// package reads: it has them itself.
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

// Foreign are weights that a model is compiled with in place of its own.
type Foreign struct {
	File    string // what messages call their file
	Weights *rt.Weights
	Keys    keys.Options
	// InPlace tells that the file is one that rt.OpenWeightsFile opens: a package whose
	// weights are the model's own, and outside the program, has no copy of them.
	InPlace bool
}

// isAsWanted reports whether the file has the weights that are wanted as they are wanted.
func (f *Foreign) isAsWanted(wanted []keys.Want) bool {
	return !slices.ContainsFunc(wanted, func(w keys.Want) bool {
		info, ok := f.Weights.Info(w.Name)
		return !ok || info.DType != w.DType || !slices.Equal(info.Shape, w.Shape)
	})
}

// with returns the source with other weights.
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

// errors returns errors of weights, a line each, after the file's name.
func (f *Foreign) errors(err error) error {
	var errs []error
	for line := range strings.Lines(err.Error()) {
		errs = append(errs, fmt.Errorf("%s: %s", f.File, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "weights: ")))
	}
	return errors.Join(errs...)
}

// own returns the weights that the model has of its own: those with data, or those that
// New(0) begins with.
func (s *Source) own() *rt.Weights {
	given := s.given()
	if s.Initial == nil {
		return given
	}
	return rt.InitialWeights(0, s.Initial, given)
}

// given returns the weights that have data.
func (s *Source) given() *rt.Weights {
	w := rt.NewWeights()
	for _, x := range s.Module.Weights {
		if x.Data != nil {
			exec.AddWeight(w, x)
		}
	}
	return w
}

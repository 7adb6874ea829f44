package golden

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// TestRefs checks the lists of values that the steps of the goldens read and write. A step reads
// operands of its node and values that its blocks capture, and writes all of its results. All other
// memory it uses is scratch memory of its own.
func TestRefs(t *testing.T) {
	for _, file := range genGoldens(t) {
		t.Run(goldenName(file), func(t *testing.T) {
			for _, f := range generateGolden(t, goldenName(file)).model.Functions {
				for _, f := range append(f.Callees(), f) {
					checkRefs(t, f)
				}
			}
		})
	}
}

func checkRefs(t *testing.T, f *program.Func) {
	t.Helper()
	written := map[*ir.Value]bool{}
	user := map[*ir.Value]*ir.Node{} // of scratch
	for _, s := range f.Steps {
		n := s.At()
		for _, r := range s.Refs() {
			v := r.Value
			switch {
			case n == nil: // the copy of a result
				if !slices.Contains(f.IR.Results, v) {
					t.Errorf("@%s: %s is copied", f.IR.Name, v)
				}
			case r.Access == plan.Read:
				read := slices.Clone(n.Args)
				for _, b := range n.Blocks {
					read = append(read, b.Captured()...)
				}
				if !slices.Contains(read, v) {
					t.Errorf("@%s: %s reads %s", f.IR.Name, n.Text(), v)
				}
			case r.Access == plan.Write:
				if written[v] = true; !slices.Contains(n.Results, v) {
					t.Errorf("@%s: %s writes %s", f.IR.Name, n.Text(), v)
				}
			case user[v] == nil:
				user[v] = n
			case user[v] != n:
				t.Errorf("@%s: %s uses the scratch of %s", f.IR.Name, n.Text(), user[v].Text())
			}
			if place := f.Plan.Places[v]; n != nil && (r.Place.Kind != place.Kind || r.Place.Buffer != place.Buffer) {
				t.Errorf("@%s: %s finds %s in memory of kind %d, which is in %d", f.IR.Name, n.Text(), v, r.Place.Kind, place.Kind)
			}
		}
	}
	for _, n := range f.IR.Nodes {
		for _, r := range n.Results {
			made := written[r] || slices.ContainsFunc(n.Args, func(a *ir.Value) bool {
				return a != nil && f.Plan.Places[a].Kind == f.Plan.Places[r].Kind && f.Plan.Places[a].Buffer == f.Plan.Places[r].Buffer
			})
			if kind := f.Plan.Places[r].Kind; !made && kind != plan.None && kind != plan.Weight {
				t.Errorf("@%s: nothing writes %s", f.IR.Name, r)
			}
		}
	}
}

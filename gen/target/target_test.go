package target_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/ir/pass"
)

// Every target has the name of its folder, and the names differ.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range target.All {
		name := x.Name()
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			t.Errorf("target %q has no folder: %v", name, err)
		}
		if seen[name] {
			t.Errorf("there are two targets %q", name)
		}
		seen[name] = true
		if found, err := target.Named(name); err != nil || found.Name() != name {
			t.Errorf("target %q is not found by its name: %v", name, err)
		}
	}
	if _, err := target.Named("abacus"); err == nil {
		t.Error("a target that does not exist is found")
	}
}

// TestPipelines asserts that every pass of a target's pipeline is known, and that the order of the
// passes satisfies their requirements. A pass that runs several times is before another if one run is.
func TestPipelines(t *testing.T) {
	known := map[string]bool{}
	for _, x := range target.All {
		t.Run(x.Name(), func(t *testing.T) {
			pipeline := x.Lowering()
			first, last := map[string]int{}, map[string]int{}
			for i, p := range slices.Concat(pass.Canonical, pipeline.Passes, pipeline.Outlining, pass.Naming) {
				if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(p.Name) || p.Run == nil {
					t.Errorf("%q is not a pass", p.Name)
				}
				if _, again := last[p.Name]; !again {
					first[p.Name] = i
				}
				last[p.Name], known[p.Name] = i, true
			}
			for _, o := range slices.Concat(pass.Orders, pipeline.Order) {
				before, ok := first[o.Before]
				after, also := last[o.After]
				if ok && also && before >= after {
					t.Errorf("%s has to come before %s: %s", o.Before, o.After, o.Why)
				}
				if o.Why == "" {
					t.Errorf("%s before %s: no reason", o.Before, o.After)
				}
			}
		})
	}
	for _, x := range target.All {
		for _, o := range slices.Concat(pass.Orders, x.Lowering().Order) {
			if !known[o.Before] || !known[o.After] {
				t.Errorf("%s before %s: no target has both", o.Before, o.After)
			}
		}
	}
}

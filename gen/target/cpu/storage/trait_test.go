package storage

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

func has[T any](o ir.Op) bool {
	_, ok := o.(T)
	return ok
}

// TestTraits lists the operators of each trait, so that an operator does not gain or lose a trait
// by accident, for example by embedding another operator.
func TestTraits(t *testing.T) {
	for _, trait := range []struct {
		name string
		has  func(ir.Op) bool
		ops  string
	}{
		{"EpilogueHost", has[op.EpilogueHost], "conv_blocked depthwise_blocked mat_mul_panels winograd_blocked"},
		{"Ender", has[op.Ender], "conv_blocked conv_pixels depthwise_blocked depthwise_planar mat_mul_panels winograd_blocked"},
		{"MemoryBound", has[op.MemoryBound], "block pack_panels pad_blocked unblock"},
		{"NarrowReader", has[op.NarrowReader], "mat_mul_panels"},
		{"Summer", has[op.Summer], "conv_blocked conv_data_blocked mat_mul_panels"},
		{"TransposedReader", has[op.TransposedReader], "pack_panels"},
		{"Weighed", has[op.Weighed], "pack_winograd"},
		{"empty lanes", has[laneFiller], "block block_bytes conv_blocked conv_bytes depthwise_blocked depthwise_bytes gather_channels winograd_blocked"},
	} {
		var names []string
		for _, o := range Ops {
			if trait.has(o) {
				names = append(names, ir.OpName(o))
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != trait.ops {
			t.Errorf("%s: %s\nwant %s", trait.name, got, trait.ops)
		}
	}
}

// A name of package op is not used again, so that the text form of a module is clear.
func TestNamesAreNew(t *testing.T) {
	if got, want := len(Set), len(ir.Builtin())+len(op.Ops)+len(Ops); got != want {
		t.Errorf("%d names for %d operators", got, want)
	}
}

package vulkan

import (
	"slices"
	"testing"
)

// TestMissingFeatures names what a device like SwiftShader lacks, and says which kernels such devices run.
func TestMissingFeatures(t *testing.T) {
	have := newFeatureSets(nil)
	if _, err := enable(have, nil); err == nil || err.Error() != "lacks bufferDeviceAddress" {
		t.Errorf("error %v", err)
	}
	all := slices.DeleteFunc(slices.Concat(requiredFeatures, optionalFeatures), func(f feature) bool { return f.set >= cooperativeMatrix })
	for _, f := range all {
		have[f.set].switches[f.position] = 1
	}
	for _, c := range []struct {
		without string
		missing []string
		words   bool
	}{
		{"", nil, false},
		{"shaderFloat64", []string{"shaderFloat64"}, false},
		{"shaderInt64", nil, true},
		{"shaderInt16", nil, true},
		{"shaderInt8", nil, true},
		{"storageBuffer16BitAccess", nil, true},
		{"storageBuffer8BitAccess", nil, true},
		{"shaderFloat16", nil, false},
		{"shaderSharedInt64Atomics", nil, false},
	} {
		for _, f := range all {
			have[f.set].switches[f.position] = 1
			if f.name == c.without {
				have[f.set].switches[f.position] = 0
			}
		}
		enabled, err := enable(have, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := missingFeatures(enabled); !slices.Equal(got, c.missing) || usesWords(enabled) != c.words {
			t.Errorf("without %s: %q are missing, words %t", c.without, got, usesWords(enabled))
		}
		for limit, want := range map[uint64]int64{1 << 63: 1 << 62, 1 << 30: 1 << 30} {
			if c.words {
				want = min(want, 8<<30)
			}
			if got := maxAllocation(limit, enabled); got != want {
				t.Errorf("without %s: allocations of %d bytes, want %d", c.without, got, want)
			}
		}
	}
}

// TestChoose chooses modules for devices with different features.
func TestChoose(t *testing.T) {
	const float64s, int64s = 10, 11
	module := func(capabilities []uint32, names ...string) *shader {
		return &shader{capabilities: capabilities, names: names}
	}
	plain, wide, words, double := module(nil, "add"), module([]uint32{int64s}, "count", "sort"), module(nil, "count", "sort"), module([]uint32{float64s, int64s}, "mean")
	for _, c := range []struct {
		features []string
		all      []*shader
		want     []*shader
		err      string
	}{
		{nil, []*shader{plain}, []*shader{plain}, ""},
		{nil, []*shader{plain, wide, words}, []*shader{plain, words}, ""},
		{[]string{"shaderInt64"}, []*shader{plain, wide, words}, []*shader{plain, wide}, ""},
		{[]string{"shaderInt64", "shaderFloat64"}, []*shader{plain, wide, words, double}, []*shader{plain, wide, double}, ""},
		{[]string{"shaderInt64"}, []*shader{plain, wide, words, double}, nil, "no shaderFloat64, which the kernel mean needs"},
		{nil, []*shader{double}, nil, "no shaderFloat64, shaderInt64, which the kernel mean needs"},
	} {
		got, err := choose(c.all, c.features)
		if !slices.Equal(got, c.want) || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("with %q: got %d modules and the error %v", c.features, len(got), err)
		}
	}
}

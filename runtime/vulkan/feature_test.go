package vulkan

import (
	"slices"
	"testing"
)

// TestMissingFeatures names what a device like SwiftShader lacks.
func TestMissingFeatures(t *testing.T) {
	have := newFeatureSets(nil)
	if _, err := enable(have, nil); err == nil || err.Error() != "lacks shaderInt64" {
		t.Errorf("error %v", err)
	}
	for _, f := range slices.Concat(requiredFeatures, optionalFeatures) {
		if f.set < cooperativeMatrix && f.name != "storageBuffer16BitAccess" && f.name != "shaderSharedInt64Atomics" {
			have[f.set].switches[f.position] = 1
		}
	}
	enabled, err := enable(have, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := missingFeatures(enabled); !slices.Equal(got, []string{"storageBuffer16BitAccess"}) {
		t.Errorf("%q", got)
	}
}

package vulkan

import (
	"errors"
	"slices"
	"unsafe"
)

const (
	extensionCooperativeMatrix = "VK_KHR_cooperative_matrix"
	extensionBfloat16          = "VK_KHR_shader_bfloat16"
)

// These are the sets of features. Each is a Vulkan struct with a field for each feature.
const (
	core = iota
	vulkan11
	vulkan12
	cooperativeMatrix
	bfloat16
	featureSets
)

// feature is a feature that kernels may use.
type feature struct {
	name string // in Vulkan
	set  int
	// index of the switch in the set
	position int
	// the SPIR-V capability that requires the feature, or 0
	capability uint32
}

// requiredFeatures are the features that a device must have.
var requiredFeatures = []feature{
	{"bufferDeviceAddress", vulkan12, 38, 5347},
	{"timelineSemaphore", vulkan12, 37, 0},
}

// The first typeFeatures elements of optionalFeatures are features that tensors of some types need.
// The next wordFeatures elements are features for computing with and storing integers of other
// widths than 32 bits. If the device lacks one of these wordFeatures features, some kernels compute
// in words of 32 bits.
const (
	typeFeatures = 1
	wordFeatures = 5
)

// optionalFeatures are enabled if the device has them.
var optionalFeatures = []feature{
	{"shaderFloat64", core, 39, 10},
	{"shaderInt64", core, 40, 11},
	{"shaderInt16", core, 41, 22},
	{"shaderInt8", vulkan12, 8, 39},
	{"storageBuffer16BitAccess", vulkan11, 0, 4433},
	{"storageBuffer8BitAccess", vulkan12, 2, 4448},
	{"shaderFloat16", vulkan12, 7, 9},
	{"shaderBufferInt64Atomics", vulkan12, 5, 12},
	{"shaderSharedInt64Atomics", vulkan12, 6, 0}, // a module that uses it declares the capability above
	{"shaderSubgroupExtendedTypes", vulkan12, 34, 0},
	{"vulkanMemoryModel", vulkan12, 41, 5345},
	{"vulkanMemoryModelDeviceScope", vulkan12, 42, 5346},
	{"cooperativeMatrix", cooperativeMatrix, 0, 6022},
	{"shaderBFloat16Type", bfloat16, 0, 5116},
	{"shaderBFloat16CooperativeMatrix", bfloat16, 2, 5118},
}

// subgroupOperations is indexed by the bit of VkSubgroupFeatureFlags.
var subgroupOperations = []struct {
	name       string
	capability uint32
}{
	{"subgroup basic", 61},
	{"subgroup vote", 62},
	{"subgroup arithmetic", 63},
	{"subgroup ballot", 64},
	{"subgroup shuffle", 65},
	{"subgroup shuffle relative", 66},
	{"subgroup clustered", 67},
	{"subgroup quad", 68},
}

// newFeatureSets returns feature sets with all features off, linked by their next pointers. A set
// that belongs to an extension is linked only if `extensions` contains the extension.
func newFeatureSets(extensions []string) *[featureSets]featureSet {
	sets := &[featureSets]featureSet{
		core:     {sType: typeFeatures2},
		vulkan11: {sType: typeVulkan11Features},
		vulkan12: {sType: typeVulkan12Features},
	}
	if slices.Contains(extensions, extensionCooperativeMatrix) {
		sets[cooperativeMatrix].sType = typeCooperativeMatrixFeatures
	}
	if slices.Contains(extensions, extensionBfloat16) {
		sets[bfloat16].sType = typeBfloat16Features
	}
	last := &sets[0]
	for i := range sets[1:] {
		if set := &sets[1+i]; set.sType != 0 {
			last.next = unsafe.Pointer(set)
			last = set
		}
	}
	return sets
}

// enable returns the features to enable: all required ones, and the optional ones that are in
// `supported`. It returns an error if a required feature is missing.
func enable(supported *[featureSets]featureSet, extensions []string) (*[featureSets]featureSet, error) {
	want := newFeatureSets(extensions)
	for _, f := range requiredFeatures {
		if supported[f.set].switches[f.position] == 0 {
			return nil, errors.New("lacks " + f.name)
		}
		want[f.set].switches[f.position] = 1
	}
	for _, f := range optionalFeatures {
		want[f.set].switches[f.position] = supported[f.set].switches[f.position]
	}
	return want, nil
}

// featureNames returns the names of the enabled optional features and of the subgroup operations
// that compute shaders have.
func featureNames(enabled *[featureSets]featureSet, p *vulkan11Properties) []string {
	var names []string
	for _, f := range optionalFeatures {
		if enabled[f.set].switches[f.position] != 0 {
			names = append(names, f.name)
		}
	}
	for i, g := range subgroupOperations {
		if p.subgroupStages&shaderStageCompute != 0 && p.subgroupOperations>>i&1 != 0 {
			names = append(names, g.name)
		}
	}
	return names
}

// missingFeatures returns the features that are not enabled and that tensors of some types need.
func missingFeatures(enabled *[featureSets]featureSet) []string {
	return missing(optionalFeatures[:typeFeatures], enabled)
}

// usesWords reports whether some kernels compute in words of 32 bits. They do if the device lacks a
// feature for integers of other widths.
func usesWords(enabled *[featureSets]featureSet) bool {
	return len(missing(optionalFeatures[typeFeatures:][:wordFeatures], enabled)) > 0
}

// missing returns the names of the features in list that are not enabled.
func missing(list []feature, enabled *[featureSets]featureSet) []string {
	var names []string
	for _, f := range list {
		if enabled[f.set].switches[f.position] == 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// missingFeature returns the name of a feature, or of a group of subgroup operations, that a
// capability requires and that the device lacks. `names` lists the features and the groups that the
// device has. missingFeature returns "" if nothing is missing.
func missingFeature(names []string, capability uint32) string {
	for _, f := range optionalFeatures {
		if f.capability == capability && !slices.Contains(names, f.name) {
			return f.name
		}
	}
	for _, g := range subgroupOperations {
		if g.capability == capability && !slices.Contains(names, g.name) {
			return g.name
		}
	}
	return ""
}

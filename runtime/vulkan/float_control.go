package vulkan

import "slices"

// floatControl is a SPIR-V execution mode for floats of one width. Devices may lack it; see
// VkPhysicalDeviceFloatControlsProperties. A kernel then runs without the mode: the device may
// flush subnormals to zero, round up or down, or assume that there are no infinities and NaNs.
type floatControl struct {
	// name of the property of a device
	name string
	// the execution mode, and the capability that it requires, in SPIR-V
	mode, capability uint32
	width            uint32 // in bits
	has              func(*floatControlsProperties) bool
}

const (
	modeDenormPreserve           = 4459
	modeSignedZeroInfNanPreserve = 4461
	modeRoundingRTE              = 4462
	capDenormPreserve            = 4464
	capSignedZeroInfNanPreserve  = 4466
	capRoundingRTE               = 4467
)

// independenceNone is a value of VkShaderFloatControlsIndependence. On devices that have it, a mode
// applies either to all widths of floats or to none.
const independenceNone = 2

// floatControls lists the modes that modules may declare.
var floatControls = []floatControl{
	{"shaderDenormPreserveFloat32", modeDenormPreserve, capDenormPreserve, 32, func(p *floatControlsProperties) bool {
		return p.denormPreserve[1] != 0 && p.denormIndependence != independenceNone
	}},
	{"shaderRoundingModeRTEFloat32", modeRoundingRTE, capRoundingRTE, 32, func(p *floatControlsProperties) bool {
		return p.roundingModeRTE[1] != 0 && p.roundingIndependence != independenceNone
	}},
	{"shaderSignedZeroInfNanPreserveFloat32", modeSignedZeroInfNanPreserve, capSignedZeroInfNanPreserve, 32, func(p *floatControlsProperties) bool {
		return p.signedZeroInfNanPreserve[1] != 0
	}},
	{"shaderSignedZeroInfNanPreserveFloat64", modeSignedZeroInfNanPreserve, capSignedZeroInfNanPreserve, 64, func(p *floatControlsProperties) bool {
		return p.signedZeroInfNanPreserve[2] != 0
	}},
}

func floatControlNames(p *floatControlsProperties) []string {
	var names []string
	for _, c := range floatControls {
		if c.has(p) {
			names = append(names, c.name)
		}
	}
	return names
}

// dropControls removes the float controls that the device does not have, and the capabilities that
// only these controls require. `names` are the names of the device's features.
func (s *shader) dropControls(names []string) {
	lacks := func(mode, width uint32) bool {
		return slices.ContainsFunc(floatControls, func(c floatControl) bool {
			return c.mode == mode && c.width == width && !slices.Contains(names, c.name)
		})
	}
	left := map[uint32]bool{} // the modes that some kernel keeps
	for op, operands := range instructions(s.words) {
		if mode, width, ok := controlOf(op, operands); ok && !lacks(mode, width) {
			left[mode] = true
		}
	}
	words := slices.Clone(s.words[:headerWords])
	for op, operands := range instructions(s.words) {
		mode, width, isMode := controlOf(op, operands)
		unused := op == opCapability && slices.ContainsFunc(floatControls, func(c floatControl) bool {
			return c.capability == operands[0] && !left[c.mode]
		})
		if !unused && !(isMode && lacks(mode, width)) {
			words = append(append(words, uint32(len(operands)+1)<<16|op), operands...)
		}
	}
	s.words = words
}

// controlOf returns the mode and width of the float control that an instruction sets. ok is false unless
// the instruction is an OpExecutionMode that sets one.
func controlOf(op uint32, operands []uint32) (mode, width uint32, ok bool) {
	if op != opExecutionMode || len(operands) != 3 {
		return 0, 0, false
	}
	mode, width = operands[1], operands[2]
	return mode, width, slices.ContainsFunc(floatControls, func(c floatControl) bool { return c.mode == mode })
}

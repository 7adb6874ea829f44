package vulkan

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
)

// controlled returns a module with a kernel that has all float controls, and one that has a control of f64.
func controlled() *assembler {
	a := newAssembler(capDenormPreserve, capSignedZeroInfNanPreserve, capRoundingRTE, 10) // Float64
	for name, controls := range map[string][]floatControl{"all": floatControls, "wide": floatControls[3:]} {
		entry := len(a.entries)
		a.kernel(name, [3]uint32{64, 1, 1}, func(*kernelText) {})
		for _, c := range controls {
			a.modes = append(a.modes, instruction(opExecutionMode, a.entries[entry+2], c.mode, c.width)...)
		}
	}
	return a
}

// TestDropControls leaves out the controls that a device lacks, with the capabilities that only they need.
func TestDropControls(t *testing.T) {
	const rounding = "shaderRoundingModeRTEFloat32"
	const denorm, nan32, nan64 = "shaderDenormPreserveFloat32", "shaderSignedZeroInfNanPreserveFloat32", "shaderSignedZeroInfNanPreserveFloat64"
	for _, c := range []struct {
		has          []string
		modes        [][2]uint32
		capabilities []uint32
	}{
		{[]string{denorm, rounding, nan32, nan64}, [][2]uint32{{4459, 32}, {4461, 32}, {4461, 64}, {4461, 64}, {4462, 32}}, []uint32{4464, 4466, 4467}},
		{[]string{rounding, nan32, nan64}, [][2]uint32{{4461, 32}, {4461, 64}, {4461, 64}, {4462, 32}}, []uint32{4466, 4467}},
		{[]string{nan64}, [][2]uint32{{4461, 64}, {4461, 64}}, []uint32{4466}},
		{[]string{denorm}, [][2]uint32{{4459, 32}}, []uint32{4464}},
		{nil, nil, nil},
	} {
		all, err := readShaders(controlled().code(), 5)
		if err != nil {
			t.Fatal(err)
		}
		s := all[0]
		before := len(s.words)
		s.dropControls(c.has)
		var modes [][2]uint32
		var capabilities []uint32
		for op, operands := range instructions(s.words) {
			if mode, width, ok := controlOf(op, operands); ok {
				modes = append(modes, [2]uint32{mode, width})
			}
			if op == opCapability && operands[0] >= capDenormPreserve && operands[0] <= capRoundingRTE {
				capabilities = append(capabilities, operands[0])
			}
		}
		slices.SortFunc(modes, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) }) // of two kernels
		if !slices.Equal(modes, c.modes) || !slices.Equal(capabilities, c.capabilities) {
			t.Errorf("with %q: modes %v, want %v; capabilities %v, want %v", c.has, modes, c.modes, capabilities, c.capabilities)
		}
		if want := before - 4*(5-len(c.modes)) - 2*(3-len(c.capabilities)); len(s.words) != want {
			t.Errorf("with %q: %d words, want %d", c.has, len(s.words), want)
		}
	}
}

// TestFloatControlNames reads the properties of devices.
func TestFloatControlNames(t *testing.T) {
	every := floatControlsProperties{denormPreserve: [3]uint32{1, 1, 1}, roundingModeRTE: [3]uint32{1, 1, 1}, signedZeroInfNanPreserve: [3]uint32{1, 1, 1}}
	alike := every
	alike.denormIndependence, alike.roundingIndependence = independenceNone, independenceNone
	only64 := floatControlsProperties{denormPreserve: [3]uint32{1, 0, 1}, roundingModeRTE: [3]uint32{1, 0, 1}, signedZeroInfNanPreserve: [3]uint32{0, 0, 1}}
	for _, c := range []struct {
		p    floatControlsProperties
		want []string
	}{
		{every, []string{"shaderDenormPreserveFloat32", "shaderRoundingModeRTEFloat32", "shaderSignedZeroInfNanPreserveFloat32", "shaderSignedZeroInfNanPreserveFloat64"}},
		{alike, []string{"shaderSignedZeroInfNanPreserveFloat32", "shaderSignedZeroInfNanPreserveFloat64"}},
		{only64, []string{"shaderSignedZeroInfNanPreserveFloat64"}},
		{floatControlsProperties{}, nil},
	} {
		if got := floatControlNames(&c.p); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// TestLoadWithoutControls loads a module whose controls a device has, or lacks. The validation layer looks at what
// the driver gets.
func TestLoadWithoutControls(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		t.Logf("the device has %q", d.Info().Features)
		a := controlled()
		if !slices.Contains(d.Info().Features, "shaderFloat64") {
			t.Skip("the device lacks shaderFloat64")
		}
		m, err := d.Load(a.code())
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, name := range []string{"all", "wide"} {
			if _, err := m.Kernel(gpu.KernelInfo{Name: name, Block: [3]int{64, 1, 1}}); err != nil {
				t.Error(err)
			}
		}
	})
}

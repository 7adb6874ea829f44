package gpu

import "testing"

// TestSettings reads the index of a device from the environment, and from options, which count more.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		variable string
		options  []Option
		index    int
		limit    int64
		want     string
	}{
		{"", nil, 0, 0, ""},
		{"0", nil, 0, 0, ""},
		{"3", nil, 3, 0, ""},
		{"3", []Option{Device(1), Memory(5)}, 1, 5, ""},
		{"-1", nil, 0, 0, `BURNGEN_DEVICE="-1": the index of a device expected`},
		{"first", nil, 0, 0, `BURNGEN_DEVICE="first": the index of a device expected`},
		{"", []Option{Device(-1)}, 0, 0, "gpu.Device(-1): the index of a device expected"},
		{"", []Option{Memory(0)}, 0, 0, "gpu.Memory(0): a number of bytes above 0 expected"},
	} {
		t.Setenv(deviceVariable, c.variable)
		s, err := settingsOf(c.options)
		if got := errorText(err); got != c.want {
			t.Errorf("%q: %q, want %q", c.variable, got, c.want)
		}
		if err == nil && (s.index != c.index || s.limit != c.limit) {
			t.Errorf("%q: device %d with %d bytes, want device %d with %d bytes", c.variable, s.index, s.limit, c.index, c.limit)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

package rt

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMatchName(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		matches []string
		not     []string
	}{
		{"conv1.weight", []string{"conv1.weight"}, []string{"conv1.bias", "conv1", "a.conv1.weight", "conv1xweight"}},
		{"conv1", []string{"conv1", "conv1.weight", "conv1.a.b"}, []string{"conv10.weight", "a.conv1"}},
		{"conv?", []string{"conv1.weight"}, []string{"conv.weight", "conv12"}},
		{"layers.*.weight", []string{"layers.0.weight", "layers.12.weight.v"}, []string{"layers.0.attn.weight", "layers.weight"}},
		{"layers.[0-3]", []string{"layers.2.weight"}, []string{"layers.4.weight", "layers.12"}},
		{"**.bias", []string{"bias", "a.bias", "a.b.c.bias"}, []string{"a.biases", "a.bias_x"}},
		{"a.**.b.**.c", []string{"a.b.c", "a.x.b.y.z.c", "a.b.b.c.c"}, []string{"a.c.b", "a.x.c"}},
		{"**", []string{"a", "a.b"}, nil},
		{"*", []string{"a", "a.b", ""}, nil},
		{`a\*`, []string{"a*.b"}, []string{"ab"}},
		{"encoder/*/kernel:0", []string{"encoder/layer_0/kernel:0", "/encoder/l/kernel:0"}, []string{"encoder/l/kernel:1"}},
		{"conv1.Conv", []string{"/conv1/Conv.weight"}, []string{"/conv1/Conv_1.weight"}},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			for want, list := range map[bool][]string{true: tt.matches, false: tt.not} {
				for _, name := range list {
					if got, err := MatchName(tt.pattern, name); got != want || err != nil {
						t.Errorf("%q: %v, %v", name, got, err)
					}
				}
			}
		})
	}
	for _, pattern := range []string{"", "a..b", "a.", "[a", "a.[z-", `a\`, "**.[]"} {
		if ok, err := MatchName(pattern, "a"); ok || err == nil {
			t.Errorf("%q is a pattern", pattern)
		}
	}
	t.Run("a name matches itself", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.StringMatching(`[a-z_:0-9]+([./][a-z_:0-9]+){0,5}`).Draw(t, "name")
			below := name + rapid.StringMatching(`([./][a-z0-9]+){0,3}`).Draw(t, "below")
			for _, pattern := range []string{name, "**." + name, name + ".**"} {
				if ok, err := MatchName(pattern, below); !ok || err != nil {
					t.Errorf("%q does not match %q: %v", pattern, below, err)
				}
			}
		})
	})
}

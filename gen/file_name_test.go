package gen

import (
	"strings"
	"testing"
)

func TestFileName(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ text, want string }{
		{"resnet50", "resnet50"},
		{"ResNet-50_v1.5", "ResNet-50_v1.5"},
		{"a b", "a_b"},
		{"a\"b`c*d?e[f\\g/h:i", "a_b_c_d_e_f_g_h_i"},
		{"x\n//go:linkname a b", "x___go_linkname_a_b"},
		{"größe", "gr__e"},
		{".hidden", "hidden"},
		{"../../x", "x"},
		{"trailing. ", "trailing"},
		{"", "model"},
		{"...", "model"},
		{"模型", "model"},
		{"CON", "model_CON"},
		{"nul.v2", "model_nul.v2"},
		{"console", "console"},
		{long, long[:maxFileName]},
		{long[:maxFileName-1] + ".x", long[:maxFileName-1]},
	} {
		if got := FileName(c.text, "model"); got != c.want {
			t.Errorf("FileName(%q) is %q, want %q", c.text, got, c.want)
		}
	}
}

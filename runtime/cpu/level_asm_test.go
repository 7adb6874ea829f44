//go:build (amd64 || arm64 || (wasm && simd128)) && !noasm

package cpu

import "testing"

func TestStartLevel(t *testing.T) {
	for _, l := range Levels() {
		if got := startLevel(l.String()); got != l {
			t.Errorf("BURNGEN_CPU=%v gives %v", l, got)
		}
	}
	for _, name := range []string{"", "sse", "AVX512"} {
		if got := startLevel(name); got != best() {
			t.Errorf("BURNGEN_CPU=%q gives %v, want the best, %v", name, got, best())
		}
	}
}

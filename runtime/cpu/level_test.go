package cpu

import (
	"slices"
	"testing"
)

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

func TestSetLevel(t *testing.T) {
	old := CurrentLevel()
	restore := SetLevel(Generic)
	if CurrentLevel() != Generic {
		t.Errorf("the level is %v after SetLevel(generic)", CurrentLevel())
	}
	restore()
	if CurrentLevel() != old {
		t.Errorf("the level is %v after restore, want %v", CurrentLevel(), old)
	}
	defer SetLevel(NEON + 1)()
	if CurrentLevel() != best() {
		t.Errorf("the level is %v where the machine's best is %v", CurrentLevel(), best())
	}
}

func TestLevelsAscend(t *testing.T) {
	ls := Levels()
	if ls[0] != Generic || !slices.IsSorted(ls) {
		t.Errorf("the levels are %v", ls)
	}
}

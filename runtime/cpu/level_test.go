package cpu

import (
	"slices"
	"testing"
)

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

package emit

import "testing"

func TestKeep(t *testing.T) {
	for _, c := range []struct {
		text          string
		raw, prepared bool
	}{{"prepared", false, true}, {"raw", true, false}, {"both", true, true}} {
		var k Keep
		if err := k.Set(c.text); err != nil || k.HasRaw() != c.raw || k.HasPrepared() != c.prepared {
			t.Errorf("%s: raw %t, prepared %t, error %v", c.text, k.HasRaw(), k.HasPrepared(), err)
		}
	}
	k := KeepBoth
	if err := k.Set("all"); err == nil || k != KeepBoth {
		t.Errorf("%v, error %v", k, err)
	}
}

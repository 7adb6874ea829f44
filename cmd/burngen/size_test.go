package main

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]struct {
		bytes int64
		text  string
	}{
		"64MiB": {64 << 20, "64MiB"}, "1.5 gib": {3 << 29, "1536MiB"}, "2GB": {2e9, "2GB"}, "100kb": {100e3, "100kB"}, "7B": {7, "7B"},
		"64": {}, "MiB": {}, "-1MiB": {}, "0B": {}, "nanB": {}, "infGB": {}, "0x10B": {}, "1e30GB": {},
	} {
		var s size
		err := s.Set(text)
		if (err == nil) != (want.bytes > 0) || int64(s) != want.bytes || s.String() != want.text {
			t.Errorf("%s: got %d %q, %v", text, s, s.String(), err)
		}
	}
}

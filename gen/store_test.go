package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/runtime/rt"
)

func TestStore(t *testing.T) {
	const file = "net.safetensors"
	initial := []rt.Initial{{Name: "w"}}
	inPlace := Source{Name: "net", From: "hub.safetensors", InPlace: true}
	for name, c := range map[string]struct {
		source Source
		o      Options
		trains bool
		want   emit.Store
	}{
		"embedded":                   {Source{Name: "net"}, Options{}, false, emit.Embedded{File: file}},
		"a package that trains":      {Source{Name: "net"}, Options{}, true, emit.Embedded{File: file, Keep: emit.KeepRaw}},
		"both forms to train":        {Source{Name: "net"}, Options{Keep: emit.KeepBoth}, true, emit.Embedded{File: file, Keep: emit.KeepBoth}},
		"beside":                     {Source{Name: "net"}, Options{WeightsOutside: true}, false, emit.Beside{File: file}},
		"raw beside":                 {Source{Name: "net"}, Options{WeightsOutside: true, Keep: emit.KeepRaw}, false, emit.Beside{File: file, Keep: emit.KeepRaw}},
		"the file there is":          {inPlace, Options{WeightsOutside: true, Keep: emit.KeepRaw}, false, emit.Existing{File: "hub.safetensors"}},
		"the file there is, trained": {inPlace, Options{WeightsOutside: true}, true, emit.Existing{File: "hub.safetensors"}},
		"prepared, from a file":      {inPlace, Options{WeightsOutside: true}, false, emit.Beside{File: file}},
		"both, from a file":          {inPlace, Options{WeightsOutside: true, Keep: emit.KeepBoth}, false, emit.Beside{File: file, Keep: emit.KeepBoth}},
		"embedded from a file":       {inPlace, Options{Keep: emit.KeepRaw}, false, emit.Embedded{File: file, Keep: emit.KeepRaw}},
		"drawn":                      {Source{Name: "net", Initial: initial}, Options{}, false, emit.Drawn{Initial: initial}},
		"drawn, both forms":          {Source{Name: "net", Initial: initial}, Options{Keep: emit.KeepBoth, WeightsOutside: true}, true, emit.Drawn{Initial: initial}},
	} {
		m := &Model{Name: c.source.Name, Source: &c.source, options: c.o}
		if c.trains {
			m.Training = &Training{}
		}
		if d := cmp.Diff(c.want, m.store()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

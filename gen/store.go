package gen

import "github.com/burngen/burngen/gen/emit"

func (m *Model) store() emit.Store {
	keep := m.options.Keep
	if keep == emit.KeepPrepared && m.Training != nil {
		keep = emit.KeepRaw
	}
	switch {
	case m.Source.Initial != nil:
		return emit.Drawn{Initial: m.Source.Initial}
	case !m.options.WeightsOutside:
		return emit.Embedded{File: m.weightsFile(), Keep: keep}
	case keep == emit.KeepRaw && m.Source.InPlace && (m.shared == nil || m.shared.Keep == emit.KeepRaw):
		return emit.Existing{File: m.Source.From}
	}
	return emit.Beside{File: m.weightsFile(), Keep: keep}
}

func (m *Model) weightsFile() string { return m.fileName() + ".safetensors" }

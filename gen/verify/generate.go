package verify

import (
	"path/filepath"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
)

// maxEmbedded is the largest weights file, in bytes, that is linked into the
// program; larger ones are loaded from disk.
const maxEmbedded = 64 << 20

// generation is the package of a case.
type generation struct {
	ports    *ports
	files    []emit.File
	embedded bool
}

func (c Case) model() string { return filepath.Join(c.Dir, modelFile) }

func (v *verifier) generateOne(c Case, name string) (*generation, error) {
	o, err := v.options(c)
	if err != nil {
		return nil, err
	}
	o.Package = name
	m, err := gen.Load(c.model(), o)
	if err != nil {
		return nil, err
	}
	g := &generation{ports: portsOf(m.Source.Func(), m.Source.Operators), embedded: m.WeightsSize() <= maxEmbedded}
	if !g.embedded {
		m.KeepWeightsOutside()
	}
	g.files, err = m.Files()
	return g, err
}

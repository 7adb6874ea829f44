package verify

import (
	"path/filepath"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
)

// maxEmbedded is the maximum total size, in bytes, of the weights files of all cases that are linked
// into the program. Other files are loaded from disk, one at a time.
const maxEmbedded = 64 << 20

type generation struct {
	ports    *ports
	files    []emit.File
	size     int64 // of the weights file, in bytes
	embedded bool  // linked into the program
}

func (c Case) model() string { return filepath.Join(c.Dir, modelFile) }

func (v *verifier) generateOne(c Case, name string, room int64) (*generation, error) {
	o, err := v.options(c)
	if err != nil {
		return nil, err
	}
	o.Package = name
	m, err := gen.Load(c.model(), o)
	if err != nil {
		return nil, err
	}
	g := &generation{ports: portsOf(m.Source.Func(), m.Source.Operators), size: m.WeightsSize()}
	g.ports.rounding = m.Rounding()
	if g.embedded = g.size <= room; !g.embedded {
		m.KeepWeightsOutside()
	}
	g.files, err = m.Files()
	return g, err
}

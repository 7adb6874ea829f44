package emit

import "github.com/burngen/burngen/runtime/rt"

// Store says where a package has its weights. It is an [Embedded], a [Beside], an [Existing] or a
// [Drawn].
type Store interface {
	// Form returns the form of the weights.
	Form() Keep
}

// Embedded describes a weights file that is generated with the package and is part of the program. File is the file's
// name. Keep is the form of the weights in it.
type Embedded struct {
	File string
	Keep Keep
}

// Beside describes a weights file that is generated with the package and stays beside it. File is the file's name.
// Load reads the file. Keep is the form of the weights in it.
type Beside struct {
	File string
	Keep Keep
}

// Existing is the weights file of the source model. File is its path, in any folder. Load reads the file at this
// path; generation does not copy it.
type Existing struct{ File string }

// Drawn are initial weights. New computes them, so there is no weights file.
type Drawn struct{ Initial []rt.Initial }

// Form returns Keep.
func (s Embedded) Form() Keep { return s.Keep }

// Form returns Keep.
func (s Beside) Form() Keep { return s.Keep }

// Form returns KeepRaw, because the file has the weights of the source model.
func (Existing) Form() Keep { return KeepRaw }

// Form returns KeepRaw, because New computes the weights of the source model.
func (Drawn) Form() Keep { return KeepRaw }

func (m *Model) embeddedFile() string {
	if s, ok := m.Store.(Embedded); ok && m.Shared == nil {
		return s.File
	}
	return m.ConstantsFile
}

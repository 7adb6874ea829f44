package gen

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/burngen/burngen/gen/emit"
)

// Packaged is a compiled model with the folder of its package.
type Packaged struct {
	*Model
	Dir string
}

// Folder is a generated folder with its files.
type Folder struct {
	Dir   string
	Files []emit.File
}

// Packages returns the folders of packages of one model for several targets. The folder of the first package comes
// first. Several packages read the same weights file. If the file is embedded, a small package embeds it, in a folder
// below the first package's. Otherwise it is in the first package's folder. If choose is set, there is also a package
// that chooses among the others, in the folder [AutoName] below the first package's. Packages returns an error if a
// package that others import is not in a module, or if a package does not read the shared weights.
func Packages(list []Packaged, choose bool) ([]Folder, error) {
	var weights *Folder
	if len(list) > 1 {
		var err error
		if weights, err = share(list); err != nil {
			return nil, err
		}
	}
	var out []Folder
	for _, p := range list {
		files, err := p.Files()
		if err != nil {
			return nil, err
		}
		out = append(out, Folder{p.Dir, files})
	}
	switch {
	case weights == nil:
	case weights.Dir == out[0].Dir:
		out[0].Files = append(out[0].Files, weights.Files...)
	default:
		out = append(out, *weights)
	}
	if choose {
		files, err := auto(list)
		if err != nil {
			return nil, fmt.Errorf("-target auto: %w", err)
		}
		out = append(out, Folder{filepath.Join(list[0].Dir, AutoName), files})
	}
	return out, nil
}

// share makes packages read the same weights file. It returns the folder with the file, or nil if no
// file is generated. It returns an error if a package keeps prepared weights only.
func share(list []Packaged) (*Folder, error) {
	keep, writer := emit.KeepRaw, list[0]
	if i := slices.IndexFunc(list, func(p Packaged) bool { return p.store().Form() == emit.KeepBoth }); i >= 0 {
		keep, writer = emit.KeepBoth, list[i]
	}
	for _, p := range list {
		if p.store().Form() == emit.KeepPrepared {
			return nil, fmt.Errorf("the packages of several targets share the weights of the source model, and the package for %s does not read them", p.options.Target.Name())
		}
		folder, err := filepath.Rel(p.Dir, list[0].Dir)
		if err != nil {
			return nil, err
		}
		p.shared = &emit.Shared{Folder: filepath.ToSlash(folder), Keep: keep}
	}
	if !writer.writesWeights() {
		return nil, nil
	}
	out := &Folder{Dir: list[0].Dir}
	if _, isEmbedded := writer.store().(emit.Embedded); isEmbedded {
		out.Dir = filepath.Join(list[0].Dir, filepath.FromSlash(sharedFolder))
		imported, err := ImportPath(out.Dir)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			p.shared.Package = imported
		}
		text, err := emit.SharedFile(writer.Name, writer.weightsFile())
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, text)
	}
	e, _, err := writer.emission()
	if err != nil {
		return nil, err
	}
	file, err := writer.weightsFileOf(e)
	out.Files = append(out.Files, file)
	return out, err
}

// sharedFolder is the folder of the package that embeds the weights, relative to the folder of the
// first package.
var sharedFolder = path.Join("internal", emit.SharedPackage)

package rt

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// OpenWeightsIndex returns the weights of a model in several safetensors files, as
// the index "model.safetensors.index.json" beside them lists them. The files are
// mapped as [OpenWeightsFile] does. Tensors that the index does not list are left out.
// What is wrong with the index or a file, and tensors that are not in the file the
// index says, show in Err.
func OpenWeightsIndex(path string) *Weights {
	var index *safetensors.Index
	list := ReadWeightsFile(path, func(_ *Weights, file []byte) (err error) {
		index, err = safetensors.ParseIndex(file)
		return err
	})
	defer list.Close()
	if list.Err() != nil {
		return broken(list.broken)
	}
	files := map[string]*Weights{}
	all := NewWeights()
	all.unmap = func() error {
		for _, w := range files {
			w.Close()
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(index.Files)) {
		file := index.Files[name]
		w := files[file]
		if w == nil {
			w = OpenWeightsFile(filepath.Join(filepath.Dir(path), file))
			files[file] = w
			if w.broken != nil {
				all.fail(w.broken)
			}
			for key, value := range w.metadata {
				all.metadata[key] = value
			}
		}
		if t := w.find(name); t != nil {
			all.byName[name] = t
		} else if w.broken == nil {
			all.fail(fmt.Errorf("%s: %.100q: not in %.100q, where the index has it", path, name, file))
		}
	}
	return all
}

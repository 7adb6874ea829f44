package rt

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// OpenWeightsIndex returns the weights of a model that is split into several safetensors files.
// path is the path of their index, "model.safetensors.index.json" in the same folder. The files are
// mapped as by [OpenWeightsFile]. Tensors that the index does not list are left out. Err returns
// errors of the index and the files, and an error for each tensor that is not in the file that the
// index names.
func OpenWeightsIndex(path string) *Weights { return ReadWeightsIndex(path, OpenWeightsFile) }

// ReadWeightsIndex is like [OpenWeightsIndex] for an index of files of another format. It calls open
// with the path of each file.
func ReadWeightsIndex(path string, open func(path string) *Weights) *Weights {
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
	all.mapped(func() error {
		for _, w := range files {
			w.Close()
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(index.Files)) {
		file := index.Files[name]
		w := files[file]
		if w == nil {
			w = open(filepath.Join(filepath.Dir(path), file))
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

const indexEnd = ".safetensors.index.json"

// SaveIndex writes the weights into several files and an index of them. path is the path of the
// index and ends in ".safetensors.index.json". For "model.safetensors.index.json" the files are
// "model-00001-of-00002.safetensors" and so on, in the same folder. Tensors fill the files in the
// order of their names, up to limit bytes for each file. A tensor that is larger than limit gets a
// file of its own. Each file has the metadata and a digest. The index is replaced last, when the
// files are complete. It returns the errors of [Weights.Save], and an error if path has another
// ending or limit is not positive.
func (w *Weights) SaveIndex(path string, limit int64) error {
	base, ok := strings.CutSuffix(filepath.Base(path), indexEnd)
	if !ok || limit <= 0 {
		return fmt.Errorf("weights: %.200q, %d bytes a file: a path that ends in %s and a limit above 0 expected", path, limit, indexEnd)
	}
	if err := w.Err(); err != nil {
		return err
	}
	if w.closed.Load() {
		return fmt.Errorf("weights: %w", ErrClosed)
	}
	var shards []map[string]string
	var total, size int64
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		if len(shards) == 0 || size > 0 && info.Bytes > limit-size {
			shards, size = append(shards, map[string]string{}), 0
		}
		shards[len(shards)-1][name] = name
		size += info.Bytes
		total += info.Bytes
	}
	index := &safetensors.Index{Files: map[string]string{}}
	for i, names := range shards {
		part, err := w.Renamed(names)
		if err != nil {
			return err
		}
		file := fmt.Sprintf("%s-%05d-of-%05d.safetensors", base, i+1, len(shards))
		err = part.Save(filepath.Join(filepath.Dir(path), file))
		part.Close()
		if err != nil {
			return err
		}
		for name := range names {
			index.Files[name] = file
		}
	}
	text, err := index.Encode(total)
	if err == nil {
		err = ReplaceFile(path, func(out *os.File) error { _, err := out.Write(text); return err })
	}
	if err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	return nil
}

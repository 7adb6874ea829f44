package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/beam/infer"
)

// Input is an input file of a run.
type Input struct {
	Path string `json:"path"`
	// SHA256 is the digest of the file in hexadecimal digits.
	SHA256 string `json:"sha256"`
	Items  int    `json:"items"`
}

// manifest says what a run computes. A run goes on only if its manifest is the same.
type manifest struct {
	// Model is the digest of the program, and of the weights if they are in a file.
	Model    string  `json:"model"`
	MaxBatch int     `json:"max_batch"`
	PerShard int     `json:"items_per_shard"`
	Inputs   []Input `json:"inputs"`
	// Shards are the names of the output files, with the files of a shard in one list.
	Shards [][]string `json:"shards"`
}

// Shard is a range of the items of an input file.
type Shard struct {
	Path string
	// Offset is where the first item begins in the file, in bytes. Line is its line, or 0 in files without lines.
	Offset int64
	Line   int
	// First is the index of the first item, and Items the number of items.
	First, Items int
	// Out are the output files.
	Out []string
}

// plan is the work of a run.
type plan struct {
	manifest manifest
	shards   []Shard
	// path of the manifest
	path string
}

// newPlan reads the input files and divides them into shards. model is the digest of the model.
func newPlan(glob, prefix, model string, maxBatch, perShard int, l *infer.Loaded) (*plan, error) {
	paths, err := filepath.Glob(glob)
	if err != nil {
		return nil, fmt.Errorf("-in %s: %w", glob, err)
	}
	slices.Sort(paths)
	if len(paths) == 0 {
		return nil, fmt.Errorf("-in %s: there are no such files", glob)
	}
	kind, err := formatOf(paths[0])
	if err != nil {
		return nil, err
	}
	if err := kind.fits(l); err != nil {
		return nil, err
	}
	suffixes, err := kind.outputs(l)
	if err != nil {
		return nil, err
	}
	p := &plan{manifest: manifest{Model: model, MaxBatch: maxBatch, PerShard: perShard}, path: prefix + ".manifest.json"}
	for _, path := range paths {
		other, err := formatOf(path)
		if err != nil {
			return nil, err
		}
		if other != kind {
			return nil, fmt.Errorf("%s and %s are files of different kinds", paths[0], path)
		}
		if err := p.add(path, kind); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for i := range p.shards {
		for _, suffix := range suffixes {
			p.shards[i].Out = append(p.shards[i].Out, fmt.Sprintf("%s-%05d-of-%05d%s", prefix, i, len(p.shards), suffix))
		}
		p.manifest.Shards = append(p.manifest.Shards, p.shards[i].Out)
	}
	return p, nil
}

// add adds the shards of a file.
func (p *plan) add(path string, kind *format) error {
	f, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	digest := sha256.New()
	items, marks, err := kind.scan(io.TeeReader(f, digest), size, p.manifest.PerShard)
	if err != nil {
		return err
	}
	for k, m := range marks {
		first := k * p.manifest.PerShard
		p.shards = append(p.shards, Shard{Path: path, Offset: m.offset, Line: m.line, First: first, Items: min(p.manifest.PerShard, items-first)})
	}
	p.manifest.Inputs = append(p.manifest.Inputs, Input{path, hex.EncodeToString(digest.Sum(nil)), items})
	return nil
}

// openRegular opens a file. It returns an error for pipes and devices, whose reading might not end.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, 0, cause(err)
	}
	f, err := os.Open(path)
	return f, info.Size(), cause(err)
}

// cause returns an error of the file system without the path.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// begin compares the plan with what is at its output, and writes the manifest of a new run. It returns the shards that
// have to be computed. It returns an error if the output has files of another run.
func (p *plan) begin(prefix string) ([]Shard, error) {
	text, err := json.MarshalIndent(p.manifest, "", "  ")
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := p.unused(prefix); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(p.path), 0o777); err != nil {
			return nil, err
		}
		return p.shards, writeFile(p.path, func(w io.Writer) error {
			_, err := w.Write(append(text, '\n'))
			return err
		})
	case err != nil:
		return nil, err
	}
	var before manifest
	if err := json.Unmarshal(old, &before); err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	if what := p.manifest.differs(&before); what != "" {
		return nil, fmt.Errorf("%s belongs to another run: %s; remove the files of that run, or choose another -out", p.path, what)
	}
	return slices.DeleteFunc(slices.Clone(p.shards), func(s Shard) bool { return s.missing() == "" }), nil
}

// missing returns an output file that does not exist, or "" if the shard is whole.
func (s *Shard) missing() string {
	for _, path := range s.Out {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
	}
	return ""
}

// unused returns an error if there are files with the names of shards.
func (p *plan) unused(prefix string) error {
	entries, err := os.ReadDir(filepath.Dir(prefix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), filepath.Base(prefix)+"-"); ok && strings.Contains(rest, "-of-") {
			return fmt.Errorf("%s exists, and %s does not; remove the files, or choose another -out", filepath.Join(filepath.Dir(prefix), e.Name()), p.path)
		}
	}
	return nil
}

// differs returns a difference between two manifests, or "".
func (m *manifest) differs(before *manifest) string {
	switch {
	case m.Model != before.Model:
		return "the model has changed"
	case m.MaxBatch != before.MaxBatch:
		return fmt.Sprintf("-batch was %d", before.MaxBatch)
	case m.PerShard != before.PerShard:
		return fmt.Sprintf("-shard was %d", before.PerShard)
	}
	for i, in := range m.Inputs {
		if i >= len(before.Inputs) || before.Inputs[i].Path != in.Path {
			return fmt.Sprintf("%s is not an input there", in.Path)
		}
		if before.Inputs[i] != in {
			return fmt.Sprintf("%s has changed", in.Path)
		}
	}
	if n := len(m.Inputs); n < len(before.Inputs) {
		return fmt.Sprintf("%s is an input there", before.Inputs[n].Path)
	}
	if !slices.EqualFunc(m.Shards, before.Shards, slices.Equal) {
		return "its output files have other names"
	}
	return ""
}

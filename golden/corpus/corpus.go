// Package corpus finds the test corpora: the folder BURNGEN_CORPUS, or shared/corpus in or above the
// current folder. Tests that need missing files are skipped and say so.
package corpus

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// root returns the folder that BURNGEN_CORPUS names, or else shared/corpus in the current folder or in
// the nearest folder above it that has one. It is "" if there is no such folder.
func root() string {
	if dir := os.Getenv("BURNGEN_CORPUS"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	for err == nil {
		corpora := filepath.Join(dir, "shared", "corpus")
		if info, err := os.Stat(corpora); err == nil && info.IsDir() {
			return corpora
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// Find returns the path of a file or folder in the corpora and whether it exists. The parts of name
// are separated by slashes.
func Find(name string) (path string, ok bool) {
	dir := root()
	if dir == "" {
		return "", false
	}
	path = filepath.Join(dir, filepath.FromSlash(name))
	_, err := os.Stat(path)
	return path, err == nil
}

// Path returns the path of a file or a folder, and skips the test if it is not there.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, ok := Find(name)
	if !ok {
		t.Skipf("neither BURNGEN_CORPUS nor shared/corpus beside the repository holds %s", name)
	}
	return path
}

// Glob returns the files whose names match a pattern of [path.Match], sorted. It skips the test if
// no file matches.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(), filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	if root() == "" || len(files) == 0 {
		t.Skipf("neither BURNGEN_CORPUS nor shared/corpus beside the repository holds %s", pattern)
	}
	return files
}

// Weights describes a weights file, as an independent reader in Python read it.
type Weights struct {
	File   string // its path
	Format string // "safetensors", "zip", …
	Error  string // why the reader refused it
	// Tensors are its tensors. SHA256 is the hash of the elements as the file stores them.
	// Contiguous is the hash of the elements in row-major order.
	Tensors map[string]struct {
		DType      string
		Shape      []int64
		SHA256     string
		Contiguous string `json:"contig_sha256"`
	}
}

// WeightFiles returns the descriptions of those weights files in the corpora for whose format `choose` returns
// true. It skips the test if the corpora have no descriptions of weights files.
func WeightFiles(t testing.TB, choose func(format string) bool) []Weights {
	t.Helper()
	f, err := os.Open(Path(t, "weights/expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []Weights
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var w Weights
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(w Weights) bool { return !choose(w.Format) })
	for i := range list {
		list[i].File = filepath.Join(root(), filepath.FromSlash(list[i].File))
	}
	return list
}

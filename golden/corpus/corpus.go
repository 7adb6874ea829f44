// Package corpus finds the test corpora: the folder that BURNGEN_CORPUS names, else
// shared/corpus beside the repository. Tests that need what is not there are skipped and
// say so.
package corpus

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// root returns the folder of the corpora, "" if there is none.
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

// Find returns the path of a file or a folder, whose name in the corpora has slashes, and
// whether it is there.
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

// Glob returns the files whose names match a pattern of [path.Match], in order, and skips
// the test if there is none.
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

// Weights is what an independent reader, in Python, read of a file of weights.
type Weights struct {
	File   string // its path
	Format string // "safetensors", "zip", …
	Error  string // why the reader refused it
	// Tensors are its tensors; their elements are hashed as the file has them, and in the
	// order of rows (contiguous).
	Tensors map[string]struct {
		DType      string
		Shape      []int64
		SHA256     string
		Contiguous string `json:"contig_sha256"`
	}
}

// WeightFiles returns what was read of all files of weights of the formats that choose
// takes, and skips the test if there is none.
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

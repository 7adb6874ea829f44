package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Case is a folder with a model and references.
type Case struct {
	// Name is the folder's path, relative to the parent of the folder that the user gave.
	Name string
	// Dir is the folder.
	Dir string
}

// maxDepth is the depth below a given folder at which cases are searched.
const maxDepth = 2

// Find returns the cases in dirs. Each of dirs is a case or contains cases up to two levels down. The
// cases are in the order of dirs, and within each of dirs in the order of the names of folders. Find
// returns an error if a folder does not exist, cannot be read, or contains no case.
func Find(dirs []string) ([]Case, error) {
	var cases []Case
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s: is a file; a folder with model.onnx and test_data_set_0 or ref/manifest.json expected", dir)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: no such folder", dir)
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		found, err := find(abs, filepath.Base(abs), maxDepth)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no folder with model.onnx and test_data_set_0 or ref/manifest.json", dir)
		}
		cases = append(cases, found...)
	}
	return cases, nil
}

func find(dir, name string, depth int) ([]Case, error) {
	if isCase(dir) {
		return []Case{{Name: name, Dir: dir}}, nil
	}
	if depth == 0 {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := find(filepath.Join(dir, e.Name()), name+"/"+e.Name(), depth-1)
		if err != nil {
			return nil, err
		}
		cases = append(cases, below...)
	}
	return cases, nil
}

func isCase(dir string) bool {
	if !isFile(filepath.Join(dir, modelFile)) {
		return false
	}
	return isFile(filepath.Join(dir, "ref", "manifest.json")) || len(dataSets(dir)) > 0
}

const modelFile = "model.onnx"

func dataSets(dir string) []string {
	sets, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "test_data_set_*"))
	slices.SortFunc(sets, byLength)
	return sets
}

// byLength compares two names for sorting: shorter names come first, and names of the same length are in alphabetical
// order. Names such as test_9 and test_10 are then in the order of their numbers.
func byLength(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// quoteGlob escapes the special characters of path for [filepath.Glob], which has no escapes on Windows.
func quoteGlob(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// corpus returns a folder of the test corpora, or skips the test.
func corpus(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("BURNGEN_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "corpus")
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no corpus: neither BURNGEN_CORPUS nor ../shared/corpus beside the repository holds %s", name)
	}
	return dir
}

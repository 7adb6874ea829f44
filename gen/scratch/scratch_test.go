package scratch

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLocate looks for burngen outside of any module. A program knows the checkout in which it was
// built, unless it was built with -trimpath.
func TestLocate(t *testing.T) {
	_, file, _, ok := runtime.Caller(0)
	t.Chdir(t.TempDir())
	dir, err := locate("test")
	switch {
	case !ok || !filepath.IsAbs(file):
		if err == nil || !strings.HasSuffix(err.Error(), "is not found: run it in a module that requires it") {
			t.Errorf("%q, %v", dir, err)
		}
	case err != nil || dir != filepath.Dir(filepath.Dir(filepath.Dir(file))):
		t.Errorf("%q, %v, want the folder above %s", dir, err, file)
	}
}

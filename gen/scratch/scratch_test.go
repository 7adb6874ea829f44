package scratch

import (
	"path/filepath"
	"runtime"
	"testing"
)

// A program knows the checkout that it was built in, unless paths are left out of it.
func TestCheckout(t *testing.T) {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		t.Skip("built without paths")
	}
	dir, ok := checkout()
	if want := filepath.Dir(filepath.Dir(filepath.Dir(file))); !ok || dir != want {
		t.Errorf("checkout() = %q, %v, want %q", dir, ok, want)
	}
}

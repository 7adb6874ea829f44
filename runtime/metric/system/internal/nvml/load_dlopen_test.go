//go:build linux && !android && (amd64 || arm64)

package nvml

import (
	"strings"
	"testing"
)

// TestOpenMissing opens libraries that are not there, and then one that is not NVML.
func TestOpenMissing(t *testing.T) {
	_, err := open("libmissing-1.so", "libmissing-2.so")
	if err == nil || !strings.Contains(err.Error(), "not installed") || !strings.Contains(err.Error(), "libmissing-2.so") {
		t.Error(err)
	}
	if _, err := open("libmissing-1.so", "libc.so.6"); err == nil || !strings.Contains(err.Error(), "no function nvmlInit_v2") {
		t.Error(err)
	}
}

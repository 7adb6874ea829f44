package heap

import (
	"runtime"
	"testing"
)

func TestGrowth(t *testing.T) {
	const size = 64 << 20
	bytes, panicked := Growth(func() {
		block := make([]byte, size)
		defer runtime.KeepAlive(block)
		panic("held")
	})
	if bytes < size || bytes > 2*size {
		t.Errorf("%d bytes, %d are allocated", bytes, size)
	}
	if panicked != "held" {
		t.Errorf("panicked with %v", panicked)
	}
	if bytes, panicked := Growth(func() {}); bytes > size/2 || panicked != nil {
		t.Errorf("%d bytes of nothing, panicked with %v", bytes, panicked)
	}
}

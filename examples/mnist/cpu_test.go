//go:build !gpu

package main

import (
	"strings"
	"testing"
)

func TestTarget(t *testing.T) {
	if _, err := newModel(1, "cpu"); err != nil {
		t.Error(err)
	}
	if _, err := newModel(1, "vulkan"); err == nil || !strings.Contains(err.Error(), "-tags gpu") {
		t.Errorf("error %v", err)
	}
}

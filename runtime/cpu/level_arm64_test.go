//go:build !noasm

package cpu

import "testing"

func TestEveryARM64HasNEON(t *testing.T) {
	if best() != NEON {
		t.Errorf("the best level is %v", best())
	}
}

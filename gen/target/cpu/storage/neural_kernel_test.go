package storage

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestPackedWeightsHaveTheLengthThatKernelsRead(t *testing.T) {
	for _, p := range []Packing{{3, 64, 1, 1}, {64, 20, 1, 16}, {40, 20, 20, 16}, {48, 96, 3, 16}, {12, 12, 4, 1}} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			n, _ := p.packed(3, 2).Elems().Int()
			s := cpu.ConvShape{InC: p.InC, OutC: p.OutC, Group: p.Group, InBlock: p.InBlock, KH: 3, KW: 2}
			if want := cpu.ConvWeightsLen(&s); n != want {
				t.Errorf("%d elements, the kernel reads %d", n, want)
			}
		})
	}
}

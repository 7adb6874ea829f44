package cpu_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

func TestUpdate(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Update(t, &updates) })
}

// A step has the same bits at every level, plain Go among them.
func TestUpdatesAgree(t *testing.T) {
	want := map[string][][]float32{}
	for _, l := range cpu.Levels() {
		restore := cpu.SetLevel(l)
		got := kerneltest.SpecialUpdates(&updates)
		restore()
		for name, slices := range want {
			for k, w := range slices {
				kerneltest.SameBits(t, fmt.Sprintf("%s at %v: slice %d", name, l, k), got[name][k], w)
			}
		}
		want = got
	}
}

func TestUpdateOfShortSlices(t *testing.T) {
	short, long := make([]float32, 3), make([]float32, 4)
	for _, f := range map[string]func(){
		"SGD":     func() { cpu.SGD(long, short, nil, &cpu.SGDRates{}) },
		"Adam":    func() { cpu.Adam(long, long, long, long, short, &cpu.AdamRates{}) },
		"RMSProp": func() { cpu.RMSProp(long, long, long, nil, short, &cpu.RMSPropRates{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a slice that is too short stopped nothing")
				}
			}()
			f()
		}()
	}
}

package calibrate

import (
	"bytes"
	"testing"
	"time"

	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/runtime/cpu"
)

// TestMachine asserts what holds however fast the machine is: what is written can be
// read, and a core does more in registers than it streams.
func TestMachine(t *testing.T) {
	for _, l := range cpu.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer cpu.SetLevel(l)()
			m := Machine("", 20*time.Millisecond)
			if m.Name != l.String() || m.Rows != cpu.TileRows() {
				t.Errorf("%+v", m)
			}
			var b bytes.Buffer
			model := &cost.Model{Machines: []cost.Machine{m}}
			if err := model.Write(&b); err != nil {
				t.Fatal(err)
			}
			got, err := cost.Read(&b)
			if err != nil {
				t.Fatal(err)
			}
			if got.Machines[0] != m {
				t.Errorf("%+v was written, %+v read", m, got.Machines[0])
			}
		})
	}
}

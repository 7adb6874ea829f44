package calibrate

import (
	"bytes"
	"testing"
	"time"

	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/runtime/cpu"
)

// TestMachine asserts what does not depend on the speed of the machine: its name, its rows, and
// that a written model is read back unchanged.
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

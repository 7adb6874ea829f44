package rt

import "testing"

func TestPassed(t *testing.T) {
	type array = [2]float32
	bad := Tensor[float32]{Data: make([]float32, 3), Shape: []int{2}}
	for _, c := range []struct {
		name string
		args []Passed
		want string
	}{
		{"a batch", []Passed{In("x", make([]array, 2)), In("y", make([]array, 2))}, ""},
		{"batches of two sizes", []Passed{In("x", make([]array, 2)), In("y", make([]array, 3))}, "net: y: 2 elements expected, got 3"},
		{"an array", []Passed{In("x", make([]array, 1)), InArray("y", new(array))}, ""},
		{"no array", []Passed{In("x", make([]array, 1)), InArray[array]("y", nil)}, "net: y is nil"},
		{"no result", []Passed{OutStruct[array]("dst", nil), In("x", make([]array, 1))}, "net: dst is nil"},
		{"another shape", []Passed{InTensor("x", Tensor[bool]{Data: make([]bool, 2), Shape: []int{2}}, 3)}, "net: x: shape [2]: [3] expected"},
		{"data of another length", []Passed{InTensor("x", bad, 2)}, "net: x: " + bad.Check().Error()},
		{"any shape", []Passed{InAny("x", bad)}, "net: x: " + bad.Check().Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Memory
			if err := m.enter(&Method{Name: "net", Symbols: []string{"N"}, Unbound: true}); err != nil {
				t.Fatal(err)
			}
			wantError(t, m.begin(c.args), c.want)
		})
	}
}

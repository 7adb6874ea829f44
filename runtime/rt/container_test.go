package rt

import (
	"strings"
	"testing"
)

// TestContainersAreChecked passes sequences and optionals whose data does not match their shapes,
// or whose shapes the model does not accept.
func TestContainersAreChecked(t *testing.T) {
	good := Tensor[float32]{Data: make([]float32, 6), Shape: []int{3, 2}}
	wide := Tensor[float32]{Data: make([]float32, 9), Shape: []int{3, 3}}
	short := Tensor[float32]{Data: make([]float32, 5), Shape: []int{3, 2}}
	rows := []int{AnyDim, 2}
	pairs, bad := []Tensor[float32]{good, wide}, []Tensor[float32]{good, good, short}
	for name, c := range map[string]struct {
		err  error
		want string // empty for none
	}{
		"any shape":                         {CheckItem("x", []int{7}, nil), ""},
		"any extent":                        {CheckItem("x", []int{7, 2}, rows), ""},
		"another extent":                    {CheckItem("x", []int{7, 3}, rows), "x: shape [7 3]"},
		"another rank":                      {CheckItem("x", []int{2}, rows), "x: shape [2]"},
		"sequence":                          {CheckSequence("x", []Tensor[float32]{good, good}, rows), ""},
		"no elements":                       {CheckSequence[float32]("x", nil, rows), ""},
		"element of another shape":          {CheckSequence("x", pairs, rows), "x: element 1: shape [3 3]"},
		"element without data":              {CheckSequence("x", bad, rows), "x: element 2: "},
		"optional":                          {CheckOptional("x", &good, rows), ""},
		"nothing":                           {CheckOptional[float32]("x", nil, rows), ""},
		"optional of another shape":         {CheckOptional("x", &wide, rows), "x: shape [3 3]"},
		"optional without data":             {CheckOptional("x", &short, nil), "x: "},
		"optional sequence":                 {CheckOptionalSequence("x", &pairs, nil), ""},
		"no sequence":                       {CheckOptionalSequence[float32]("x", nil, rows), ""},
		"optional sequence of other shapes": {CheckOptionalSequence("x", &pairs, rows), "x: element 1: "},
	} {
		switch {
		case c.want == "" && c.err != nil:
			t.Errorf("%s: %v", name, c.err)
		case c.want != "" && (c.err == nil || !strings.HasPrefix(c.err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, c.err, c.want)
		}
	}
}

// Room makes room for a batch, and says what the room was for.
func TestRoom(t *testing.T) {
	items := make([][4]float32, 1, 8)
	first := &items[0]
	if err := Room("model: Forward", &items, 5); err != nil || len(items) != 5 || &items[0] != first {
		t.Errorf("%d items, error %v", len(items), err)
	}
	if err := Room("model: Forward", &items, -1); err == nil || !strings.HasPrefix(err.Error(), "model: Forward: room for a batch of -1: ") {
		t.Errorf("error %v", err)
	}
}

// Reinterpret gives the same memory another type of its size.
func TestReinterpret(t *testing.T) {
	x := []float32{1, -2}
	bits := Reinterpret[uint32](x)
	if bits[0] = 0x40000000; x[0] != 2 || len(bits) != 2 {
		t.Errorf("%v, %x", x, bits)
	}
	if wide := Reinterpret[float64](x); wide != nil {
		t.Errorf("elements of another size: %v", wide)
	}
}

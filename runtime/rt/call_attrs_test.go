package rt

import (
	"testing"
)

func TestAttrs(t *testing.T) {
	c := NewCall("test.F", 0, 0, nil,
		Attr{"i", int64(1)}, Attr{"f", float32(2)}, Attr{"s", "three"},
		Attr{"is", []int64{1}}, Attr{"fs", []float32{2}}, Attr{"ss", []string{"three"}})
	a := c.Attrs
	if a.Int("i", 0) != 1 || a.Float("f", 0) != 2 || a.Text("s", "") != "three" ||
		a.Ints("is", nil)[0] != 1 || a.Floats("fs", nil)[0] != 2 || a.Texts("ss", nil)[0] != "three" {
		t.Error("an attribute is not what it was given as")
	}
	if a.Int("none", 7) != 7 || a.Text("none", "seven") != "seven" || len(a.Ints("none", []int64{7})) != 1 || a.Has("none") || !a.Has("ss") {
		t.Error("an attribute that is not there has no default")
	}
	if len(a.All()) != 6 || a.All()[2].Name != "s" || (Attrs{}).Has("i") {
		t.Errorf("attributes %v", a.All())
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

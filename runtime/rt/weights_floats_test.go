package rt

import "testing"

func TestConvertFloats(t *testing.T) {
	w := NewWeights()
	Add(w, "wide", []float64{0.5, 1.0 / 3}, 2)
	Add(w, "half", []Float16{ToFloat16(0.25)}, 1)
	Add(w, "number", []int32{7}, 1)
	if err := w.ConvertFloats("f32"); err != nil {
		t.Fatal(err)
	}
	wide, half, number := WeightsOf[float32](w, "wide", 2), WeightsOf[float32](w, "half", 1), WeightsOf[int32](w, "number", 1)
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	if wide[1] != float32(1.0/3) || half[0] != 0.25 || number[0] != 7 {
		t.Error(wide, half, number)
	}
	for _, to := range []string{"i32", "", "f8"} {
		if err := w.ConvertFloats(to); err == nil {
			t.Errorf("floats are converted to %q", to)
		}
	}
	if err := OpenWeightsFile("missing.safetensors").ConvertFloats("f16"); err == nil {
		t.Error("weights that are not there are converted")
	}
}

package metric_test

import (
	"image"
	"image/color"
	"reflect"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestConfusionPicture(t *testing.T) {
	c := metric.ConfusionMatrix().New().(*metric.Confusion)
	if c.Picture() != nil || len(c.Matrix()) != 0 {
		t.Error("there is a picture without data")
	}
	c.Add(metric.Classes{Scores: []float32{1, 0, 0, 1, 1, 0, 1, 0}, Targets: []int64{0, 0, 0, 1}})
	if got, want := c.Matrix(), [][]int64{{2, 1}, {1, 0}}; !reflect.DeepEqual(got, want) {
		t.Fatalf("matrix %v, want %v", got, want)
	}
	if got := c.Value(); got != 50 {
		t.Errorf("value %v, want 50", got)
	}
	p := c.Picture()
	if p.Bounds() != image.Rect(0, 0, 64, 64) {
		t.Fatalf("the picture has the bounds %v", p.Bounds())
	}
	for _, tt := range []struct {
		x, y int
		grey uint8
	}{{0, 0, 85}, {31, 31, 85}, {32, 0, 170}, {0, 32, 0}, {63, 63, 255}} {
		if got := p.At(tt.x, tt.y); got != (color.Gray{tt.grey}) {
			t.Errorf("at (%d, %d) is %v, want %d", tt.x, tt.y, got, tt.grey)
		}
	}
	c.Matrix()[0][0] = 99
	if c.Matrix()[0][0] != 2 {
		t.Error("the matrix is not a copy")
	}
}

func TestConfusionOfManyClasses(t *testing.T) {
	refuses(t, metric.ConfusionMatrix(), metric.Classes{Scores: make([]float32, 4097), Targets: []int64{1}},
		"confusion matrix: 4097 classes: at most 4096 expected")
	c := metric.ConfusionMatrix().New().(*metric.Confusion)
	c.Add(metric.Classes{Scores: make([]float32, 600), Targets: []int64{0}})
	if got := c.Text(); got != "100 %" {
		t.Errorf("text %q", got)
	}
	if got := c.Picture().Bounds(); got != image.Rect(0, 0, 600, 600) {
		t.Errorf("the picture has the bounds %v", got)
	}
}

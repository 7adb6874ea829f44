package data_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/data"
)

func TestMNIST(t *testing.T) {
	pictures := make([]byte, 2*28*28)
	pictures[28*28+29] = 255
	images := write(t, "images", idx(8, []uint32{2, 28, 28}, pictures...))
	labels := write(t, "labels.gz", zipped(t, idx(8, []uint32{2}, 7, 3)))
	x, y, err := data.MNIST(images, strings.TrimSuffix(labels, ".gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(x) != 2 || !slices.Equal(y, []int64{7, 3}) {
		t.Errorf("%d pictures, labels %v", len(x), y)
	}
	for _, tt := range []struct{ got, want float64 }{
		{float64(x[0][0][0]), -0.1307 / 0.3081},
		{float64(x[1][1][1]), (1 - 0.1307) / 0.3081},
		{float64(x[1][1][2]), -0.1307 / 0.3081},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6 {
			t.Errorf("pixel %v, want %v", tt.got, tt.want)
		}
	}
	three := write(t, "three", idx(8, []uint32{3}, 1, 2, 3))
	for want, files := range map[string][2]string{
		"pictures have shape [2 28 28]: [3 28 28] expected for the labels of " + three: {images, three},
		"labels have shape [2 28 28]":   {images, images},
		"pictures have shape [3]":       {three, labels},
		"none: no such file":            {"none", labels},
		"no such file":                  {images, "none"},
		"elements are f32: u8 expected": {images, write(t, "floats", idx(13, []uint32{0}))},
	} {
		if _, _, err := data.MNIST(files[0], files[1]); err == nil || !strings.HasPrefix(err.Error(), "mnist: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	t.Run("the test set", func(t *testing.T) {
		folder := corpus.Path(t, "datasets/mnist")
		x, y, err := data.MNIST(filepath.Join(folder, "t10k-images-idx3-ubyte"), filepath.Join(folder, "t10k-labels-idx1-ubyte"))
		if err != nil {
			t.Fatal(err)
		}
		if len(x) != 10000 || !slices.Equal(y[:5], []int64{7, 2, 1, 0, 4}) {
			t.Errorf("%d pictures, labels %v…", len(x), y[:5])
		}
	})
}

package images_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/data/datatest"
	"github.com/burngen/burngen/runtime/data/images"
)

// idx returns an IDX file of bytes.
func idx(extents []uint32, elements ...byte) []byte {
	b := []byte{0, 0, 8, byte(len(extents))}
	for _, n := range extents {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, elements...)
}

// folder writes files into a folder.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMNIST(t *testing.T) {
	pixels := make([]byte, 2*28*28)
	pixels[28*28+29] = 255
	pictures, labels := idx([]uint32{2, 28, 28}, pixels...), idx([]uint32{2}, 7, 3)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(labels)
	w.Close()
	dir := folder(t, map[string][]byte{
		"t10k-images-idx3-ubyte": pictures, "t10k-labels-idx1-ubyte.gz": zipped.Bytes(),
		"train-images-idx3-ubyte": idx([]uint32{1, 28, 28}, pixels[28*28:]...), "train-labels-idx1-ubyte": idx([]uint32{1}, 9),
	})
	d, err := images.MNIST(dir, images.Test)
	if err != nil {
		t.Fatal(err)
	}
	first, second := images.Digit{Pixels: new([28][28]uint8), Label: 7}, images.Digit{Pixels: new([28][28]uint8), Label: 3}
	second.Pixels[1][1] = 255
	datatest.Run(t, d, datatest.Options[images.Digit]{Want: []images.Digit{first, second}})
	standard := second.Standard()
	for _, tt := range []struct{ got, want float64 }{
		{float64(standard[0][0]), -0.1307 / 0.3081},
		{float64(standard[1][1]), (1 - 0.1307) / 0.3081},
		{float64(standard[1][2]), -0.1307 / 0.3081},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6 {
			t.Errorf("pixel %v, want %v", tt.got, tt.want)
		}
	}
	if train, err := images.MNIST(dir, images.Train); err != nil || train.Len() != 1 {
		t.Errorf("%v, %v", train, err)
	}
	three := idx([]uint32{3}, 1, 2, 3)
	floats := idx([]uint32{0})
	floats[2] = 13
	for want, files := range map[string]map[string][]byte{
		"pictures have shape [2 28 28]: [3 28 28] expected for the labels of ": {"t10k-images-idx3-ubyte": pictures, "t10k-labels-idx1-ubyte": three},
		"labels have shape [2 28 28]":                                          {"t10k-images-idx3-ubyte": pictures, "t10k-labels-idx1-ubyte": pictures},
		"pictures have shape [3]":                                              {"t10k-images-idx3-ubyte": three, "t10k-labels-idx1-ubyte": labels},
		"t10k-images-idx3-ubyte: no such file":                                 {"t10k-labels-idx1-ubyte": labels},
		"t10k-labels-idx1-ubyte: no such file":                                 {"t10k-images-idx3-ubyte": pictures},
		"elements are f32: u8 expected":                                        {"t10k-images-idx3-ubyte": pictures, "t10k-labels-idx1-ubyte": floats},
	} {
		if _, err := images.MNIST(folder(t, files), images.Test); err == nil || !strings.HasPrefix(err.Error(), "mnist: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := images.MNIST(dir, 2); err == nil || err.Error() != "mnist: split 2: Train or Test expected" {
		t.Errorf("error %v", err)
	}
	t.Run("the test set", func(t *testing.T) {
		d, err := images.MNIST(corpus.Path(t, "datasets/mnist"), images.Test)
		if err != nil {
			t.Fatal(err)
		}
		if d.Len() != 10000 {
			t.Errorf("%d pictures", d.Len())
		}
		for i, want := range []uint8{7, 2, 1, 0, 4} {
			if x, err := d.At(i); err != nil || x.Label != want {
				t.Errorf("label %v, %v; want %d", x.Label, err, want)
			}
		}
		datatest.Run(t, d, datatest.Options[images.Digit]{})
	})
}

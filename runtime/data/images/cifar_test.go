package images_test

import (
	"bytes"
	"fmt"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data/datatest"
	"github.com/burngen/burngen/runtime/data/images"
)

// records returns records with these labels, and the items they stand for.
func records(seed uint64, labels ...[]byte) (file []byte, items []images.CIFARItem) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, l := range labels {
		item := images.CIFARItem{Pixels: new([3][32][32]uint8), Label: int(l[len(l)-1])}
		if len(l) > 1 {
			item.Coarse = int(l[0])
		}
		file = append(file, l...)
		for c := range 3 {
			for y := range 32 {
				for x := range 32 {
					p := uint8(r.Uint32())
					item.Pixels[c][y][x] = p
					file = append(file, p)
				}
			}
		}
		items = append(items, item)
	}
	return file, items
}

// names returns the lines of a file of n names.
func names(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "name%d\n", i)
	}
	b.WriteString("\n") // as in the data set
	return b.Bytes()
}

func TestCIFAR10(t *testing.T) {
	files := map[string][]byte{"batches.meta.txt": names(10)}
	var want []images.CIFARItem
	for i := range 5 {
		file, items := records(uint64(i), []byte{byte(i)}, []byte{9})
		files[fmt.Sprintf("data_batch_%d.bin", i+1)] = file
		want = append(want, items...)
	}
	test, wantTest := records(9, []byte{4})
	files["test_batch.bin"] = test
	dir := folder(t, files)
	d, err := images.CIFAR10(dir, images.Train)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Run(t, d, datatest.Options[images.CIFARItem]{Want: want})
	if c := d.Classes(); len(c) != 10 || c[3] != "name3" || d.Superclasses() != nil {
		t.Errorf("classes %v, superclasses %v", c, d.Superclasses())
	}
	d, err = images.CIFAR10(dir, images.Test)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Run(t, d, datatest.Options[images.CIFARItem]{Want: wantTest})
	item, m, floats := wantTest[0], wantTest[0].Image(), wantTest[0].Floats()
	for y := range 32 {
		for x := range 32 {
			r, g, b := item.Pixels[0][y][x], item.Pixels[1][y][x], item.Pixels[2][y][x]
			if m.RGBAAt(x, y) != (color.RGBA{r, g, b, 255}) || floats[1][y][x] != float32(g)/255 {
				t.Fatalf("pixel (%d, %d) is %v and %v", x, y, m.RGBAAt(x, y), floats[1][y][x])
			}
		}
	}
}

func TestCIFAR100(t *testing.T) {
	train, want := records(1, []byte{19, 99}, []byte{0, 1})
	dir := folder(t, map[string][]byte{"train.bin": train, "fine_label_names.txt": names(100), "coarse_label_names.txt": names(20)})
	d, err := images.CIFAR100(dir, images.Train)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Run(t, d, datatest.Options[images.CIFARItem]{Want: want})
	if len(d.Classes()) != 100 || len(d.Superclasses()) != 20 {
		t.Errorf("%d classes, %d superclasses", len(d.Classes()), len(d.Superclasses()))
	}
	if err := os.Remove(filepath.Join(dir, "fine_label_names.txt")); err != nil {
		t.Fatal(err)
	}
	if d, err = images.CIFAR100(dir, images.Train); err != nil || d.Classes() != nil {
		t.Errorf("without names: %v, %v", d.Classes(), err)
	}
}

func TestDamagedCIFAR(t *testing.T) {
	good, _ := records(1, []byte{1, 2}, []byte{3, 4})
	class, _ := records(1, []byte{1, 2}, []byte{3, 100})
	group, _ := records(1, []byte{20, 2})
	for want, files := range map[string]map[string][]byte{
		"test.bin: no such file":                                         {},
		"test.bin: record 1: unexpected EOF":                             {"test.bin": good[:len(good)-1]},
		"test.bin: record 1: labels [3 100]: below 100 classes expected": {"test.bin": class},
		"test.bin: record 0: labels [20 2]: below 100 classes expected":  {"test.bin": group},
		"fine_label_names.txt: 99 names of 100 classes":                  {"test.bin": good, "fine_label_names.txt": names(99)},
		"coarse_label_names.txt: 2 names of 20 classes":                  {"test.bin": good, "coarse_label_names.txt": names(2)},
	} {
		_, err := images.CIFAR100(folder(t, files), images.Test)
		if err == nil || !strings.HasPrefix(err.Error(), "cifar-100: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := images.CIFAR10(t.TempDir(), images.Train); err == nil || !strings.Contains(err.Error(), "data_batch_1.bin") {
		t.Errorf("error %v", err)
	}
	if _, err := images.CIFAR10(t.TempDir(), 7); err == nil || err.Error() != "cifar-10: split 7: Train or Test expected" {
		t.Errorf("error %v", err)
	}
	if d, err := images.CIFAR100(folder(t, map[string][]byte{"test.bin": nil}), images.Test); err != nil || d.Len() != 0 {
		t.Errorf("an empty file: %v, %v", d, err)
	}
}

// FuzzCIFAR asserts that a file is either refused, or gives back the bytes that it has.
func FuzzCIFAR(f *testing.F) {
	good, _ := records(1, []byte{1, 2}, []byte{3, 4})
	f.Add(good)
	f.Add(good[:3000])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "test.bin"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := images.CIFAR100(dir, images.Test)
		if err != nil {
			return
		}
		var back []byte
		for i := range d.Len() {
			item, err := d.At(i)
			if err != nil {
				t.Fatal(err)
			}
			back = append(back, byte(item.Coarse), byte(item.Label))
			for c := range 3 {
				back = append(back, slices.Concat(rows(item.Pixels[c])...)...)
			}
		}
		if !bytes.Equal(back, file) {
			t.Errorf("%d bytes become %d", len(file), len(back))
		}
	})
}

func rows(plane [32][32]uint8) (rows [][]byte) {
	for _, r := range plane {
		rows = append(rows, slices.Clone(r[:]))
	}
	return rows
}

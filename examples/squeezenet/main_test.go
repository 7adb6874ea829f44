package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/images/shapes"
	"github.com/burngen/burngen/examples/squeezenet/squeezenet"
	"github.com/burngen/burngen/runtime/data/images"
)

func TestRecognisesShapes(t *testing.T) {
	p, n := plan{epochs: 20, rate: 5e-4, seed: 42, run: filepath.Join(t.TempDir(), "run")}, 80
	brief := testing.Short() || os.Getenv("BURNGEN_CPU") == "generic" // plain Go would train for minutes
	if brief {
		p.epochs, n = 1, 5
	}
	dir := t.TempDir()
	if err := shapes.Paint(dir, n, shapes.Plain); err != nil {
		t.Fatal(err)
	}
	var pictures []string
	for _, class := range []string{"disc", "ring", "square", "triangle"} {
		for i := range 5 {
			pictures = append(pictures, filepath.Join(dir, class, fmt.Sprintf("%03d.jpg", i)))
		}
	}
	var out bytes.Buffer
	if err := p.recognise(context.Background(), &out, dir, pictures); err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, path := range pictures {
		if strings.Contains(out.String(), path+": "+filepath.Base(filepath.Dir(path))+"\n") {
			right++
		}
	}
	if !brief && right < 16 || strings.Count(out.String(), ".jpg: ") != len(pictures) {
		t.Errorf("%d of %d are right:\n%s", right, len(pictures), &out)
	}
}

// TestWeightsAreThoseOfTorchvision compares names and shapes with those of torchvision's squeezenet1_1.
func TestWeightsAreThoseOfTorchvision(t *testing.T) {
	want := map[string]string{"features.0.weight": "[64 3 3 3]", "features.0.bias": "[64]", "classifier.1.weight": "[4 512 1 1]", "classifier.1.bias": "[4]"}
	for layer, n := range map[int][3]int{3: {64, 16, 64}, 4: {128, 16, 64}, 6: {128, 32, 128}, 7: {256, 32, 128}, 9: {256, 48, 192}, 10: {384, 48, 192}, 11: {384, 64, 256}, 12: {512, 64, 256}} {
		for name, shape := range map[string][]int{"squeeze": {n[1], n[0], 1, 1}, "expand1x1": {n[2], n[1], 1, 1}, "expand3x3": {n[2], n[1], 3, 3}} {
			prefix := fmt.Sprintf("features.%d.%s.", layer, name)
			want[prefix+"weight"], want[prefix+"bias"] = fmt.Sprint(shape), fmt.Sprint(shape[:1])
		}
	}
	trainer, err := squeezenet.New(1).NewTrainer(squeezenet.TrainerOptions{Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := trainer.Weights()
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		if got := fmt.Sprint(info.Shape); got != want[name] {
			t.Errorf("%s has the shape %s, want %q", name, got, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no weights %v", want)
	}
	if n := trainer.Params().Len(); n != 1_235_496-996*513 { // 4 of 1000 classes
		t.Errorf("%d parameters", n)
	}
}

func TestOtherPictures(t *testing.T) {
	if _, err := classify(squeezenet.New(1), "none.jpg"); err == nil || !strings.Contains(err.Error(), "none.jpg") {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	if err := shapes.Paint(filepath.Join(dir, "all"), 1, shapes.Plain); err != nil {
		t.Fatal(err)
	}
	photos, err := images.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := (plan{epochs: 1}).train(context.Background(), nil, photos); err == nil || !strings.Contains(err.Error(), "1 classes of pictures: the network in squeezenet/ has 4") {
		t.Errorf("error %v", err)
	}
}

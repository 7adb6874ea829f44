package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/images/shapes"
	"github.com/burngen/burngen/examples/transfer/transfer"
	"github.com/burngen/burngen/runtime/data/images"
)

func TestLearnsOtherShapes(t *testing.T) {
	p, folder, least := plan{rate: 1e-2, seed: 42}, "", 85.0
	if testing.Short() {
		folder, least = t.TempDir(), 0
		if err := shapes.Paint(folder, 2, shapes.Other); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	m, accuracy, err := p.run(context.Background(), &out, folder)
	if err != nil {
		t.Fatal(err)
	}
	if accuracy < least || strings.Count(out.String(), "valid accuracy") != len(stages) {
		t.Errorf("accuracy %.1f %%:\n%s", accuracy, &out)
	}
	if err := m.Save(filepath.Join(t.TempDir(), "weights.safetensors")); err != nil {
		t.Error(err)
	}
}

// TestTheBodyIsFrozenFirst trains the first stage.
func TestTheBodyIsFrozenFirst(t *testing.T) {
	dir := t.TempDir()
	if err := shapes.Paint(dir, 2, shapes.Other); err != nil {
		t.Fatal(err)
	}
	photos, err := images.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := transfer.New(1).NewTrainer(transfer.TrainerOptions{Batch: batch, Freeze: stages[0].freeze})
	if err != nil {
		t.Fatal(err)
	}
	read := func() map[string]string {
		w, all := trainer.Weights(), map[string]string{}
		for _, name := range w.Names() {
			all[name] = string(w.Raw(name))
		}
		return all
	}
	before := read()
	if _, err := (plan{rate: 1e-2, seed: 1}).stage(context.Background(), trainer, photos, 0); err != nil {
		t.Fatal(err)
	}
	for name, after := range read() {
		if same, want := before[name] == after, strings.HasPrefix(name, "body."); same != want {
			t.Errorf("%s is as it was: %v, %v expected", name, same, want)
		}
	}
}

func TestOtherFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (plan{}).run(context.Background(), io.Discard, dir); err == nil {
		t.Error("a folder without pictures is accepted")
	}
	dir = t.TempDir()
	if err := shapes.Paint(dir, 1, shapes.Other[:3]); err != nil {
		t.Fatal(err)
	}
	_, _, err := plan{}.run(context.Background(), io.Discard, dir)
	if want := dir + " has 3 classes: the network in transfer/ has 4"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

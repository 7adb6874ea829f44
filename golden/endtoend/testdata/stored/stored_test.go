package model

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

func output(t *testing.T, m *Model, err error) []Scores {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	x := make([]X, 3)
	rt.Uniform(rt.Flat[float32](x), -1, 1, 3)
	y, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// otherThan returns the weights of a file, in which the model's own are others.
func otherThan(t *testing.T, file string) *rt.Weights {
	t.Helper()
	w, changed := rt.OpenWeights(file), rt.NewWeights()
	stored := 0
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		x := slices.Clone(rt.WeightsOf[float32](w, name, info.Shape...))
		if strings.HasPrefix(name, "prepared/") {
			stored++
		} else {
			x[0] += 3
		}
		rt.Add(changed, name, x, info.Shape...)
	}
	for key, value := range w.Metadata() {
		changed.SetMetadata(key, value)
	}
	if err := w.Err(); err != nil || stored == 0 {
		t.Fatal(stored, err)
	}
	return changed
}

// TestStoredAreUsed changes the original weights in the package's file but not the prepared ones.
// The result shows which are used.
func TestStoredAreUsed(t *testing.T) {
	m, err := Load()
	want := output(t, m, err)
	changed := func() *rt.Weights { return otherThan(t, embedded) }
	m, err = loadRaw(changed())
	if !slices.Equal(output(t, m, err), want) {
		t.Error("the model's own weights are used at the start")
	}
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if saved := rt.OpenWeightsFile(path); len(saved.Names()) != len(wanted) || len(saved.Metadata()) != 0 {
		t.Errorf("%v are saved, with %v", saved.Names(), saved.Metadata())
	}
	m, err = loadRaw(rt.OpenWeightsFile(path))
	own := output(t, m, err)
	if slices.Equal(own, want) {
		t.Error("what Save wrote is not used")
	}
	m, err = LoadFrom(changed())
	if !slices.Equal(output(t, m, err), own) {
		t.Error("LoadFrom takes others than the model's own weights")
	}
	if m, err = Load(); err != nil {
		t.Fatal(err)
	}
	if err := m.Swap(changed()); !slices.Equal(output(t, m, err), own) {
		t.Error("Swap takes others than the model's own weights")
	}
}

package data_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

func TestOneHot(t *testing.T) {
	o := data.NewOneHot([]string{"red", "blue", "red", "gr\xffn"})
	if o.Len() != 3 || o.Name(0) != "blue" || o.Name(3) != "" || o.Name(-1) != "" || o.Index("red") != 2 || o.Index("pink") != -1 {
		t.Errorf("%d categories, %q first; red is %d", o.Len(), o.Name(0), o.Index("red"))
	}
	path := filepath.Join(t.TempDir(), "state")
	if err := rt.SaveState(path, map[string]rt.Stater{"colours": o}); err != nil {
		t.Fatal(err)
	}
	var again data.OneHot
	if err := rt.LoadState(path, map[string]rt.Stater{"colours": &again}); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*data.OneHot{o, &again} {
		row := []float32{7, 7, 7}
		for value, want := range map[string][]float32{"blue": {1, 0, 0}, "gr\xffn": {0, 1, 0}, "red": {0, 0, 1}, "": {0, 0, 0}} {
			if err := o.Put(row, value); err != nil || !slices.Equal(row, want) {
				t.Errorf("%q is %v, %v; want %v", value, row, err, want)
			}
		}
		wantError(t, o.Put(row, "pink"), `"pink" is not one of 3 categories`)
		wantError(t, o.Put(row[:2], "red"), "row of 2 columns: 3 categories")
	}
	row := make([]float32, 1)
	if err := data.NewOneHot([]string{""}).Put(row, ""); err != nil || row[0] != 1 {
		t.Errorf("%v, %v", row, err)
	}
}

// text is a part of a state that holds any bytes.
type text struct{ name, value string }

func (x text) State(s *rt.State) {
	rt.StateBytes(s, x.name, func() ([]byte, error) { return []byte(x.value), nil }, nil)
}

func TestDamagedStatesOfTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, tt := range []struct {
		saved text
		part  rt.Stater
	}{
		{text{"categories", "x"}, data.NewOneHot(nil)},
		{text{"categories", `["Yg==", "YQ=="]`}, data.NewOneHot(nil)},
		{text{"categories", `["Yg==", "Yg=="]`}, data.NewOneHot(nil)},
		{text{"edges", "x"}, new(data.Bins)},
		{text{"edges", "[2, 1]"}, new(data.Bins)},
	} {
		if err := rt.SaveState(path, map[string]rt.Stater{"part": tt.saved}); err != nil {
			t.Fatal(err)
		}
		if err := rt.LoadState(path, map[string]rt.Stater{"part": tt.part}); err == nil {
			t.Errorf("%s %s were restored", tt.saved.name, tt.saved.value)
		}
	}
}

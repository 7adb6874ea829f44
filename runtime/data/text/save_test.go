package text

import (
	"fmt"
	"os"
	"reflect"
	"testing"
)

// TestSave asserts that a tokenizer that was saved and loaded makes the same of a text, and has the
// same file.
func TestSave(t *testing.T) {
	for _, name := range references {
		first, err := Load("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/tokenizer.json"
		if err := first.Save(path); err != nil {
			t.Fatal(err)
		}
		second, err := Load(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := second.MarshalJSON()
		if err != nil || string(again)+"\n" != string(data) {
			t.Errorf("%s: saved again, the file differs: %v", name, err)
		}
		text := "The lower <mask> [MASK] day's \u00e9 \u4e2d new day"
		want, wantErr := first.EncodePair(text, "day")
		got, err := second.EncodePair(text, "day")
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got %v %v, want %v %v", name, got, err, want, wantErr)
		}
	}
}

// TestSaveSettings asserts that settings of the program are saved.
func TestSaveSettings(t *testing.T) {
	base, err := Load("testdata/bert.json")
	if err != nil {
		t.Fatal(err)
	}
	truncated, err := base.WithTruncation(&Truncation{Length: 9, Strategy: OnlyFirst, Left: true})
	if err != nil {
		t.Fatal(err)
	}
	both, err := truncated.WithPadding(&Padding{Multiple: 5, ID: 4, Token: "[MASK]", Left: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := both.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.truncation, both.truncation) || !reflect.DeepEqual(got.padding, both.padding) {
		t.Errorf("got %v %v, want %v %v", got.truncation, got.padding, both.truncation, both.padding)
	}
}

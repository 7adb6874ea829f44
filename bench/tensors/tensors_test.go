package tensors

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFilesComeBackAsTheyWent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tensors.bin")
	for _, list := range [][]Tensor{
		nil,
		{
			{Name: "an input", Type: "float32", Shape: []int{2, 1}, Data: []byte("\x00\x00\x80\x3f\n\n\n\n")},
			{Type: "int64", Data: []byte{7, 0, 0, 0, 0, 0, 0, 0}},
			{Name: "none", Type: "bool", Shape: []int{0}},
			{Name: "map", Type: Other},
		},
	} {
		if err := Write(file, list); err != nil {
			t.Fatal(err)
		}
		got, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	if err := Write(file, []Tensor{{Name: "a\nb"}}); err == nil {
		t.Error("no error for a name of two lines")
	}
}

func TestReadRefusesBrokenFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tensors.bin")
	for _, text := range []string{
		"", "1", "x\n", "-1\n", "1\n", "1\nfloat32\n", "1\nfloat32 4 1 1\nabcd", "1\nfloat32 4 1 1 x\nabc",
		"1\nfloat32 4 1 1 x\nabcde", "1\nfloat32 -4 1 1 x\n", "1\nfloat32 4 9 1 x\nabcd",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

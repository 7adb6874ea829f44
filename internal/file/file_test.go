package file

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func zipped(name string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.Create(name)
	z.Close()
	return b.String()
}

func TestFormat(t *testing.T) {
	for head, want := range map[string]string{
		"":                           Empty,
		"\x00\x00":                   "zeros",
		"hello\n":                    Text,
		" <!DOCTYPE html><title>404": "an HTML page",
		"\x89PNG\r\n\x1a\n":          "a PNG image",
		"\x80\x05K\x01.":             Pickle,
		"\x93NUMPY\x01\x00":          "a NumPy array",
		"\x10\x00\x00\x00\x00\x00\x00\x00{\"a\": ": Safetensors,
		zipped("a.txt"):                  "a zip archive",
		zipped("arr_0.npy"):              "a NumPy archive (.npz)",
		zipped("archive/data.pkl"):       PyTorch,
		"PK\x03\x04":                     "a zip archive",
		"\xfe\x01\x02":                   "",
		strings.Repeat("é", 400)[:511]:   Text,
		"version https://git-lfs.github": "a Git LFS pointer; fetch the file it stands for",
	} {
		if got := Format([]byte(head)); got != want {
			t.Errorf("%.20q is %q, want %q", head, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 5); string(data) != "four" || err != nil {
		t.Error(data, err)
	}
	for _, tt := range []struct {
		path, want string
		limit      int64
	}{
		{path, "4 bytes: fewer than 4 expected", 4},
		{dir, "is a directory, not a file", 5},
		{filepath.Join(dir, "none"), "no such file", 5},
		{os.DevNull, "is not a regular file", 5},
	} {
		if _, err := Read(tt.path, tt.limit); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.path, err, tt.want)
		}
	}
	if string(Head(path)) != "four" || Head(dir) != nil || Head(os.DevNull) != nil {
		t.Error("head")
	}
}

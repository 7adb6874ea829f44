package file

import (
	"bytes"
	"unicode/utf8"
)

// Results of [Format] that other packages compare with.
const (
	Empty       = "an empty file"
	Gzip        = "gzip data"
	Pickle      = "a Python pickle"
	PyTorch     = "a file that PyTorch saved"
	Safetensors = "a safetensors file"
	Tar         = "a tar archive"
	Text        = "text"
)

// formats lists the known formats. A file has the first format whose magic bytes it contains at
// offset.
var formats = []struct {
	name   string
	offset int
	magic  string
}{
	{Gzip, 0, "\x1f\x8b"},
	{"zstandard data", 0, "\x28\xb5\x2f\xfd"},
	{"bzip2 data", 0, "BZh"},
	{"xz data", 0, "\xfd7zXZ\x00"},
	{Tar, 257, "ustar"},
	{"an HDF5 file", 0, "\x89HDF\r\n"},
	{PyTorch, 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."},
	{Pickle, 0, "\x80\x02"},
	{Pickle, 0, "\x80\x03"},
	{Pickle, 0, "\x80\x04"},
	{Pickle, 0, "\x80\x05"},
	{"a GGUF file", 0, "GGUF"},
	{"an ONNX Runtime (.ort) file", 4, "ORTM"},
	{"a TensorFlow Lite file", 4, "TFL3"},
	{"a NumPy array", 0, "\x93NUMPY"},
	{"a PNG image", 0, "\x89PNG\r\n"},
	{"a JPEG image", 0, "\xff\xd8\xff"},
	{"a GIF image", 0, "GIF8"},
	{"a PDF document", 0, "%PDF-"},
	{Safetensors, 8, "{\""},
	{"a Git LFS pointer; fetch the file it stands for", 0, "version https://git-lfs"},
}

// headSize is the number of bytes that [Format] reads.
const headSize = 512

// Format returns the name of a file's format, such as "a PNG image". head is the beginning of the
// file, or the whole file if that is short. It returns "" if the format is not known.
func Format(head []byte) string {
	head = head[:min(len(head), headSize)]
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return archive(head)
	}
	for _, f := range formats {
		if len(head) >= f.offset && bytes.HasPrefix(head[f.offset:], []byte(f.magic)) {
			return f.name
		}
	}
	start := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 64)]))
	switch {
	case len(head) == 0:
		return Empty
	case len(bytes.Trim(head, "\x00")) == 0:
		return "zeros"
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return "an HTML page"
	case isText(head):
		return Text
	}
	return ""
}

// archive returns the format of a zip archive that begins with head. The name of the first file in
// the archive determines the format.
func archive(head []byte) string {
	const nameLength, nameStart = 26, 30
	if len(head) > nameStart {
		size := int(head[nameLength]) | int(head[nameLength+1])<<8
		switch name := head[nameStart:min(len(head), nameStart+size)]; {
		case bytes.HasSuffix(name, []byte("/data.pkl")):
			return PyTorch
		case bytes.HasSuffix(name, []byte(".npy")):
			return "a NumPy archive (.npz)"
		}
	}
	return "a zip archive"
}

// isText reports whether b is UTF-8 without control characters other than line ends and tabs. The last
// character may be cut off.
func isText(b []byte) bool {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if c == utf8.RuneError && n == 1 && len(b)-i >= utf8.UTFMax || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
		i += n
	}
	return true
}

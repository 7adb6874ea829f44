package onnxpb_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite onnx.pb.go")

// TestGenerated compiles onnx.proto with the module's own protoc-gen-go and compares the result
// with the committed file. It ignores the line that names protoc's version.
func TestGenerated(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("protoc is not installed: onnx.pb.go is not compared with onnx.proto")
	}
	const folder = "onnx/internal/onnxpb"
	dir := t.TempDir()
	plugin := filepath.Join(dir, "protoc-gen-go.exe")
	run(t, "go", "build", "-o", plugin, "google.golang.org/protobuf/cmd/protoc-gen-go")
	// Paths are given from the module's root so that the registered file name is unique among schemas.
	run(t, protoc, "--plugin=protoc-gen-go="+plugin, "--proto_path=../../..", "--go_out="+dir, "--go_opt=paths=source_relative", folder+"/onnx.proto")

	want, err := os.ReadFile(filepath.Join(dir, folder, "onnx.pb.go"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("onnx.pb.go", want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("onnx.pb.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(withoutProtoc(got), withoutProtoc(want)) {
		t.Error("onnx.pb.go is not what onnx.proto compiles to: go generate ./onnx/internal/onnxpb")
	}
}

// withoutProtoc drops carriage returns and the header line with the version of protoc.
func withoutProtoc(src []byte) []byte {
	var out []byte
	for line := range bytes.Lines(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))) {
		if !strings.HasPrefix(string(line), "// \tprotoc  ") {
			out = append(out, line...)
		}
	}
	return out
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

package onnx

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// external returns a tensor of n f32 elements that are in another file. entries are keys and
// values.
func external(name string, n int64, entries ...string) *pb.TensorProto {
	t := &pb.TensorProto{Name: &name, DataType: proto.Int32(1), Dims: []int64{n}, DataLocation: pb.TensorProto_EXTERNAL.Enum()}
	for i := 0; i+1 < len(entries); i += 2 {
		t.ExternalData = append(t.ExternalData, &pb.StringStringEntryProto{Key: &entries[i], Value: &entries[i+1]})
	}
	return t
}

// sumOf returns a model of the sum of x and initializers.
func sumOf(tensors ...*pb.TensorProto) *pb.ModelProto {
	all := []string{"x"}
	for _, t := range tensors {
		all = append(all, t.GetName())
	}
	g := chainOf(node("Sum", all, names("y")))
	g.Initializer = tensors
	return model(g)
}

// write puts a file below dir.
func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func hostileExternalData(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	for _, d := range []string{inner, filepath.Join(inner, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := write(t, dir, "secret", make([]byte, 64))
	weights := write(t, inner, "w.bin", bytes.Repeat([]byte{1, 2, 3, 4}, 16))
	write(t, filepath.Join(inner, "sub"), "w.bin", make([]byte, 64))
	links := map[string]string{"link": "w.bin", "escape": "../secret", "absolute": secret, "parent": "..", "dangling": "nowhere", "loop": "loop"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(inner, name)); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
	}
	if err := os.Link(weights, filepath.Join(inner, "hard")); err != nil {
		t.Skipf("no hard links: %v", err)
	}
	open := func(m *pb.ModelProto) (*Model, error) {
		return Open(write(t, inner, "model.onnx", encode(t, m)), Options{})
	}
	at := func(path string) *pb.TensorProto { return external("w", 3, "location", path) }
	for name, test := range map[string]struct {
		tensor *pb.TensorProto
		want   string // of the error; "" for none
	}{
		"beside the model":         {at("w.bin"), ""},
		"in a folder":              {at("sub/w.bin"), ""},
		"a detour":                 {at("sub/../w.bin"), ""},
		"a link":                   {at("link"), ""},
		"a hard link":              {at("hard"), ""},
		"all keys":                 {external("w", 3, "location", "w.bin", "offset", "13", "length", "12", "checksum", "x", "unknown", "y"), ""},
		"the last bytes":           {external("w", 3, "location", "w.bin", "offset", "52"), ""},
		"above the model":          {at("../secret"), `external data "../secret": not below the model's folder`},
		"above the model later":    {at("sub/../../secret"), `external data "sub/../../secret": not below the model's folder`},
		"an absolute path":         {at(secret), "not below the model's folder"},
		"a link out of it":         {at("escape"), `external data "escape": path escapes from parent`},
		"an absolute link":         {at("absolute"), `external data "absolute": path escapes from parent`},
		"a folder's link":          {at("parent/secret"), `external data "parent/secret": path escapes from parent`},
		"a link to nothing":        {at("dangling"), `external data "dangling": no such file or directory`},
		"a link to itself":         {at("loop"), `external data "loop": `},
		"a missing file":           {at("nothing"), `external data "nothing": no such file or directory`},
		"a path of Windows":        {at(`C:\x`), `external data "C:\\x": `},
		"a device of Windows":      {at("NUL"), `external data "NUL": `},
		"a folder":                 {at("sub"), `external data "sub": not a regular file`},
		"the folder itself":        {at("."), `external data ".": not a regular file`},
		"a NUL":                    {at("w\x00"), `external_data location "w\x00" has a NUL`},
		"a long name":              {at(strings.Repeat("w", 1<<20)), "file name too long"},
		"no location":              {external("w", 3), "external_data has no location"},
		"past the end":             {external("w", 3, "location", "w.bin", "offset", "56"), `external data "w.bin": bytes 56 to 68 of a file of 64`},
		"an offset at the end":     {external("w", 3, "location", "w.bin", "offset", "9223372036854775800"), "external_data offset 9223372036854775800 is too large"},
		"a negative offset":        {external("w", 3, "location", "w.bin", "offset", "-1"), `external_data offset is "-1", not a number of bytes`},
		"an offset in words":       {external("w", 3, "location", "w.bin", "offset", "one"), `external_data offset is "one", not a number of bytes`},
		"a negative length":        {external("w", 3, "location", "w.bin", "length", "-12"), `external_data length is "-12", not a number of bytes`},
		"another length":           {external("w", 3, "location", "w.bin", "length", "16"), "external_data length 16 for the 12 bytes of FLOAT[3]"},
		"two locations":            {external("w", 3, "location", "w.bin", "location", "hard"), `external_data has two entries "location"`},
		"more than the file":       {external("w", 1<<28, "location", "w.bin"), `external data "w.bin": bytes 0 to 1073741824 of a file of 64`},
		"a size that overflows":    {external("w", 1<<62, "location", "w.bin"), "more elements than fit a 64-bit size"},
		"the model as its weights": {external("w", 1, "location", "model.onnx"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(sumOf(test.tensor))
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), `model.onnx: node 0 "y" (Sum-13): initializer "w": `) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	t.Run("values", func(t *testing.T) {
		m, err := open(sumOf(external("w", 3, "location", "w.bin", "offset", "1")))
		if err != nil {
			t.Fatal(err)
		}
		if w := m.Module.Weight("w"); w == nil || !bytes.Equal(w.Data, []byte{2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1}) {
			t.Error(w)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		_, err := Read("model.onnx", encode(t, sumOf(at("w.bin"))), nil, Options{})
		if err == nil || !strings.HasSuffix(err.Error(), `external data "w.bin": the model has no folder`) {
			t.Error(err)
		}
	})
	t.Run("many tensors in one byte", func(t *testing.T) {
		byteTensor := func(i int) *pb.TensorProto {
			w := external(fmt.Sprint("w", i), 2, "location", "w.bin", "offset", "7")
			w.DataType, w.Dims = proto.Int32(int32(pb.TensorProto_UINT8)), []int64{1}
			return w
		}
		g := &pb.GraphProto{Initializer: manyOf(100_000, byteTensor), Output: values(value("y", nil))}
		g.Node = []*pb.NodeProto{node("Concat", manyOf(100_000, func(i int) string { return fmt.Sprint("w", i) }), names("y"), attrInt("axis", 0))}
		bounded(t, func() {
			if m, err := open(model(g)); err != nil || !strings.HasSuffix(m.Module.Func("forward").Results[0].Type.String(), "[100000]") {
				t.Error(err)
			}
		})
	})
	write(t, inner, "big.bin", make([]byte, 16<<20))
	t.Run("tensors that overlap", func(t *testing.T) {
		tensors := manyOf(1000, func(i int) *pb.TensorProto {
			return external(fmt.Sprint("w", i), 3<<20, "location", "big.bin", "offset", fmt.Sprint(4*i))
		})
		for _, w := range tensors {
			w.Dims = []int64{3 << 20, 1}
		}
		m := sumOf(tensors...)
		m.Graph.Input[0] = value("x", f32(1, 3))
		bounded(t, func() {
			if _, err := open(m); err == nil || !strings.Contains(err.Error(), `external data "big.bin": the tensors in it overlap`) {
				t.Errorf("%.300v", err)
			}
		})
	})
	t.Run("tensors that share a place", func(t *testing.T) {
		tensors := manyOf(1000, func(i int) *pb.TensorProto {
			w := external(fmt.Sprint("w", i), 4<<20, "location", "big.bin")
			w.Dims = []int64{4 << 20, 1}
			return w
		})
		m := sumOf(tensors...)
		m.Graph.Input[0] = value("x", f32(1, 3))
		bounded(t, func() {
			if _, err := open(m); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("a file that is not needed", func(t *testing.T) {
		m := sumOf(at("w.bin"))
		m.Graph.Initializer = append(m.Graph.Initializer, external("unused", 1<<28, "location", "nothing"))
		if _, err := open(m); err != nil {
			t.Error(err)
		}
	})
	t.Run("a model with other problems", func(t *testing.T) {
		m := sumOf(external("w", 4<<20, "location", "big.bin"))
		m.Graph.Initializer[0].Dims = []int64{4 << 20, 1}
		m.Graph.Input[0] = value("x", f32(1, 3))
		m.Graph.Node = append(m.Graph.Node, node("Foo", names("y"), names("z")))
		m.Graph.Output = values(value("z", nil))
		if _, err := open(m); err == nil || err.Error() != `model.onnx: node 1 "z" (Foo-21): unknown operator` {
			t.Error(err)
		}
	})
}

func hostileModelFiles(t *testing.T) {
	dir := t.TempDir()
	sparse := write(t, dir, "sparse.onnx", nil)
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Logf("no large files: %v", err)
		sparse = filepath.Join(dir, "missing.onnx")
	}
	data := encode(t, model(chainOf(relu("x", "y"))))
	fifo := filepath.Join(dir, "fifo.onnx")
	for name, test := range map[string]struct{ path, want string }{
		"a model":              {write(t, dir, "ok.onnx", data), ""},
		"a missing file":       {filepath.Join(dir, "missing.onnx"), "missing.onnx: no such file"},
		"a folder":             {dir, filepath.Base(dir) + ": is a directory, not a file"},
		"an empty file":        {write(t, dir, "empty.onnx", nil), "empty.onnx: is empty"},
		"zeros":                {write(t, dir, "zeros.onnx", make([]byte, 4096)), "zeros.onnx: not an ONNX model: zeros"},
		"text":                 {write(t, dir, "text.onnx", []byte("hello\nworld")), "text.onnx: not an ONNX model: text"},
		"half a model":         {write(t, dir, "half.onnx", data[:len(data)/2]), "half.onnx: not a readable ONNX model: length 56 with 29 bytes left in graph"},
		"a sparse file":        {sparse, ": "},
		"an endless device":    {"/dev/zero", "zero: "},
		"a name with newlines": {filepath.Join(dir, "a\nb.onnx"), "a; b.onnx: no such file"},
		"a pipe":               {fifo, "fifo.onnx: "},
	} {
		t.Run(name, func(t *testing.T) {
			if test.path == fifo && !makePipe(fifo) {
				t.Skip("no named pipes")
			}
			bounded(t, func() {
				_, err := Open(test.path, Options{})
				switch {
				case test.want == "" && err != nil:
					t.Error(err)
				case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")):
					t.Errorf("got %v, want %s", err, test.want)
				}
			})
		})
	}
}

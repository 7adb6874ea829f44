package wire

import (
	"bytes"
	"regexp"
	"testing"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// stricter matches the errors for files that protobuf reads.
var stricter = regexp.MustCompile(`no graph|not an ONNX model|wire type \d for |invalid UTF-8 in |more than \d+ |nested more than \d+ deep`)

// FuzzModel reads any bytes with this package and with protobuf. The results must be the same. If
// protobuf returns an error, so must this package. The memory must stay within the limit.
func FuzzModel(f *testing.F) {
	model := sample(f)
	f.Add(model)
	for i := range 64 {
		f.Add(model[:len(model)*i/64])
	}
	for i := range model {
		damaged := bytes.Clone(model)
		damaged[i] ^= 1 << (i % 8)
		f.Add(damaged)
	}
	overlong := bytes.Repeat([]byte{0xff}, 10)
	f.Add(append([]byte{8}, append(overlong, 1)...))
	f.Add(append(overlong, 1))
	f.Add(bytesOf(modelGraph, fixed64(graphNode, 0)))
	f.Add(bytesOf(modelGraph, group(99, group(98))))
	f.Add(bytesOf(modelGraph, inside(70, graphNode, nodeAttr, attrG)))
	f.Add(bytesOf(modelGraph, bytesOf(11, bytesOf(2, inside(70, 9, 1)))))
	f.Add(bytesOf(modelGraph, bytes.Repeat(bytesOf(graphNode), 1<<14)))
	f.Add(bytes.Repeat(bytesOf(modelGraph, bytesOf(5)), 1<<12))
	f.Add(bytesOf(modelGraph, bytesOf(5, varint(1, 1<<63), varint(2, 22), bytesOf(5, []byte{1, 0x80, 1}), bytesOf(6), varint(14, 1), bytesOf(13))))
	f.Add(bytesOf(modelGraph, bytesOf(graphNode, bytesOf(nodeAttr, bytesOf(7, make([]byte, 8)), bytesOf(9), bytesOf(14, bytesOf(7, text(1, "d")), bytesOf(5))))))
	f.Add(join(bytesOf(modelGraph), bytesOf(20, bytesOf(1), bytesOf(2)), bytesOf(25, text(1, "f"), bytesOf(7))))

	limits := Limits{Memory: 1 << 20, Nodes: 1 << 12}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		var m *Model
		var err error
		if got := allocated(func() { m, err = ReadModel(b, limits) }); got > 8<<20 {
			t.Errorf("%d bytes allocated for a file of %d", got, len(b))
		}
		clean, protoErr := withoutUnknown(b)
		switch {
		case err == nil && protoErr != nil:
			t.Fatalf("protobuf refuses what was read: %v", protoErr)
		case err != nil && protoErr == nil && !stricter.MatchString(err.Error()):
			t.Fatalf("protobuf reads what was refused: %v", err)
		case err != nil:
			return
		}
		decodeAll(t, m.Graph)
		checkTwin(t, clean, m, new(pb.ModelProto), modelTwin)
	})
}

// decodeAll decodes every constant; what is decoded must have the size that was promised.
func decodeAll(t *testing.T, g *Graph) {
	for i := range g.Initializers {
		decode(t, &g.Initializers[i])
	}
	for _, n := range g.Nodes {
		for i := range n.Attrs {
			a := &n.Attrs[i]
			if kind, err := a.Kind(); err == nil && kind == AttrGraph && a.Ref == "" && a.G == nil {
				t.Error("a graph attribute without a graph")
			}
			if a.T != nil {
				decode(t, a.T)
			}
			if a.G != nil {
				decodeAll(t, a.G)
			}
		}
	}
}

func decode(t *testing.T, x *Tensor) {
	if b, err := x.Bytes(); err == nil {
		if size, err := x.Size(); err != nil || size != int64(len(b)) {
			t.Errorf("%d bytes for a size of %d, %v", len(b), size, err)
		}
	}
	if s, err := x.Strings(); err == nil {
		if n, err := x.Len(); err != nil || n != int64(len(s)) {
			t.Errorf("%d strings for a length of %d, %v", len(s), n, err)
		}
	}
	if l, err := x.Location(); err == nil && (l.Offset < 0 || l.Length < 0 || l.Offset+l.Length < 0) {
		t.Errorf("location %+v", l)
	}
}

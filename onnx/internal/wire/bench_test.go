package wire

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// nodesModel returns a model of n nodes with an attribute each. Every tenth node has a weight of
// the given size.
func nodesModel(b *testing.B, n, weight int) []byte {
	g := new(pb.GraphProto)
	for i := range n {
		g.Node = append(g.Node, &pb.NodeProto{
			Name: proto.String(fmt.Sprintf("/layer.%d/Gemm", i)), OpType: proto.String("Gemm"),
			Input:     []string{fmt.Sprintf("x%d", i), fmt.Sprintf("w%d", i/10)},
			Output:    []string{fmt.Sprintf("x%d", i+1)},
			Attribute: []*pb.AttributeProto{{Name: proto.String("transB"), Type: pb.AttributeProto_INT.Enum(), I: proto.Int64(1)}},
		})
		if i%10 == 0 {
			g.Initializer = append(g.Initializer, &pb.TensorProto{
				Name: proto.String(fmt.Sprintf("w%d", i/10)), DataType: dtype(Uint8), Dims: []int64{int64(weight)}, RawData: make([]byte, weight),
			})
		}
	}
	file, err := proto.Marshal(&pb.ModelProto{Graph: g})
	if err != nil {
		b.Fatal(err)
	}
	return file
}

func BenchmarkReadModel(b *testing.B) {
	for _, size := range []struct{ nodes, weight int }{{5000, 0}, {5000, 100_000}, {100_000, 0}} {
		b.Run(fmt.Sprintf("%d_nodes_%d_byte_weights", size.nodes, size.weight), func(b *testing.B) {
			file := nodesModel(b, size.nodes, size.weight)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadModel(file, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

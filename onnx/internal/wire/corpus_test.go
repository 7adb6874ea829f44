package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// TestCorpusModels reads every model twice, with this package and with protobuf, and decodes every
// constant. In short mode it reads every twentieth model.
func TestCorpusModels(t *testing.T) {
	for i, file := range corpus.Glob(t, "*/*/model.onnx") {
		if testing.Short() && i%20 > 0 {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ReadModel(b, Limits{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		checkTwin(t, b, m, new(pb.ModelProto), modelTwin)
		checkGraph(t, file, m.Graph)
		if t.Failed() {
			t.Fatal(file)
		}
	}
}

func checkGraph(t *testing.T, file string, g *Graph) {
	for i := range g.Initializers {
		checkTensor(t, file, &g.Initializers[i])
	}
	for _, n := range g.Nodes {
		for i := range n.Attrs {
			a := &n.Attrs[i]
			if _, err := a.Kind(); err != nil {
				t.Errorf("%s: node %q: %v", file, n.Name, err)
			}
			if a.T != nil {
				checkTensor(t, file, a.T)
			}
			if a.G != nil {
				checkGraph(t, file, a.G)
			}
		}
	}
}

func checkTensor(t *testing.T, file string, x *Tensor) {
	var err error
	switch {
	case x.Outside:
		_, err = x.Location()
	case x.Type == String:
		_, err = x.Strings()
	default:
		_, err = x.Bytes()
	}
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// TestCorpusValues reads the inputs and outputs of the node tests, each as what the model says it is.
func TestCorpusValues(t *testing.T) {
	seen := map[TypeKind]int{}
	for _, file := range corpus.Glob(t, "onnx-node/*/model.onnx") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ReadModel(b, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		folder := filepath.Join(filepath.Dir(file), "test_data_set_0")
		for name, values := range map[string][]ValueInfo{"input": m.Graph.Inputs, "output": m.Graph.Outputs} {
			for i, v := range values {
				b, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s_%d.pb", name, i)))
				if err != nil {
					continue // some tests leave optional inputs out
				}
				seen[v.Type.Kind]++
				if err := checkFile(t, b, v.Type.Kind); err != nil {
					t.Fatalf("%s: %s %d: %v", file, name, i, err)
				}
			}
		}
	}
	for _, kind := range []TypeKind{TensorType, SequenceType, OptionalType} {
		if seen[kind] == 0 {
			t.Errorf("no value of type kind %d", kind)
		}
	}
}

// checkFile reads a value twice and decodes it if it is a tensor.
func checkFile(t *testing.T, b []byte, kind TypeKind) error {
	switch kind {
	case TensorType:
		x, err := ReadTensor(b, Limits{})
		if err != nil {
			return err
		}
		checkTwin(t, b, x, new(pb.TensorProto), tensorTwin)
		checkTensor(t, "", x)
	case SequenceType:
		s, err := ReadSequence(b, Limits{})
		if err != nil {
			return err
		}
		checkTwin(t, b, s, new(pb.SequenceProto), sequenceTwin)
	case OptionalType:
		o, err := ReadOptional(b, Limits{})
		if err != nil {
			return err
		}
		checkTwin(t, b, o, new(pb.OptionalProto), optionalTwin)
	}
	return nil
}

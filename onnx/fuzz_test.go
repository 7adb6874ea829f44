package onnx

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// FuzzImport imports any bytes. The result must be a valid module that prints and parses, or an
// error of printable lines. The memory must not depend on what the bytes declare.
func FuzzImport(f *testing.F) {
	var seeds [][]byte
	add := func(m *pb.ModelProto) { seeds = append(seeds, encode(f, m)) }
	seeds = append(seeds, onnxtest.MLP().Bytes())
	add(model(chainOf(relu("x", "y"))))
	add(model(chainOf(node("Constant", nil, names("c"), attrTensor("value", ints("", 1, -1))), node("Reshape", names("x", "c"), names("y")))))
	add(model(chainOf(node("Shape", names("x"), names("s")), node("Gather", names("s", "i"), names("g")), node("ConstantOfShape", names("g"), names("y")))))
	block := &pb.GraphProto{Node: []*pb.NodeProto{relu("x", "z")}, Output: values(value("z", nil)), Initializer: []*pb.TensorProto{ints("w", 1, 2, 3)}}
	add(model(chainOf(in("", "if", node("If", names("c"), names("y"), attrGraph("then_branch", block), attrGraph("else_branch", block))))))
	add(model(chainOf(in("local", "", node("f", names("x"), names("y"), attrInt("axis", 1)))),
		withFunctions(localFunction("f", names("a"), names("b"), node("Softmax", names("a"), names("b"), attrRef("axis", "axis", pb.AttributeProto_INT))))))
	add(model(&pb.GraphProto{Input: values(value("x", f32("N", 3, "N*2", -1)), value("i", tensorOfType(pb.TensorProto_INT64, 2))), Output: values(value("x", nil), value("i", nil))}))
	weights := chainOf(node("MatMul", names("x", "w"), names("m")), node("Add", names("m", "b"), names("y")))
	weights.Initializer = []*pb.TensorProto{initializer("w", pb.TensorProto_FLOAT, make([]byte, 36), 3, 3), initializer("b", pb.TensorProto_FLOAT, make([]byte, 4))}
	add(model(weights))
	for i, rule := range op.ONNX {
		r := &misuser{rand.New(rand.NewPCG(uint64(i), 2)), rule, nil}
		for range 4 {
			add(r.model())
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, seed := range seeds {
		f.Add(seed)
		for range 4 {
			damaged := bytes.Clone(seed)
			damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
			f.Add(damaged)
		}
	}
	if dir, ok := corpus.Find("onnx-node"); ok {
		files, _ := filepath.Glob(filepath.Join(dir, "*", "model.onnx"))
		for i := 0; i < len(files); i += 20 {
			if data, err := os.ReadFile(files[i]); err == nil && len(data) < 1<<14 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<18 {
			return
		}
		defer time.AfterFunc(time.Minute, func() { panic("still running after a minute") }).Stop()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Read("model.onnx", data, nil, Options{})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 {
			t.Errorf("%d MiB allocated", n>>20)
		}
		if err != nil {
			for _, bad := range []string{"bug", "do not fit it", "runtime error", "%!"} {
				if strings.Contains(err.Error(), bad) {
					t.Error(err)
				}
			}
			return
		}
		if err := ir.Verify(m.Module); err != nil {
			t.Fatal(err)
		}
		if f := m.Module.Func("forward"); len(f.Nodes) < 1000 {
			roundTrip(t, m.Module)
			evaluate(t, m.Module)
		}
	})
}

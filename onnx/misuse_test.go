package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// misuser draws nodes with operands and attributes that mostly do not fit.
type misuser struct {
	*rand.Rand
	op    op.Rule
	attrs []string // that the operator has been seen to ask for
}

func pick[T any](r *misuser, list ...T) T { return list[r.IntN(len(list))] }

// extreme are integers that shapes and axes should not be.
var extreme = []int64{0, 1, 2, 3, 4, -1, -2, -5, 64, 1 << 20, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64, math.MinInt64, 1 << 40}

func (r *misuser) int() int64 {
	if r.IntN(3) > 0 {
		return pick(r, extreme[:6]...)
	}
	return pick(r, extreme...)
}

func (r *misuser) ints() []int64 {
	list := []int64{}
	for range r.IntN(7) {
		list = append(list, r.int())
	}
	return list
}

func (r *misuser) float() float32 {
	return pick(r, 0, 1, -1, 0.5, 2, 1e30, float32(math.Inf(1)), float32(math.NaN()))
}

func (r *misuser) text() string {
	return pick(r, "", "SAME_UPPER", "VALID", "NOTSET", "linear", "nearest", "cubic", "tanh", "none", "reflect", "wrap", "edge", "constant", "add", "mul", "max", "DCR", "CRD", "ij,jk->ik", "i...->i", "->", "FLOAT", "reverse", "bidirectional", "mean", "sum", "asymmetric", "align_corners", "tf_crop_and_resize", "floor", "\x00\n")
}

var elemTypes = []pb.TensorProto_DataType{1, 1, 1, 7, 7, 9, 10, 11, 2, 3, 6, 8, 13, 16, 17, 21, 22, 23, 4, 12}

// tensor returns a constant.
func (r *misuser) tensor() *pb.TensorProto {
	d := pick(r, elemTypes...)
	if r.IntN(2) == 0 {
		v := r.ints()
		t := ints("", v...)
		if len(v) == 1 && r.IntN(2) == 0 {
			t.Dims = nil
		}
		return t
	}
	dims, n := []int64{}, int64(1)
	for range r.IntN(4) {
		dims = append(dims, int64(r.IntN(4)))
		n *= dims[len(dims)-1]
	}
	t := &pb.TensorProto{DataType: proto.Int32(int32(d)), Dims: dims}
	if d == pb.TensorProto_STRING {
		for range n {
			t.StringData = append(t.StringData, []byte(r.text()))
		}
		return t
	}
	bits := dtypes[0x7fffffff&dataType(d)].Bits()
	t.RawData = make([]byte, (n*int64(bits)+7)/8)
	for i := range t.RawData {
		t.RawData[i] = byte(pick(r, 0, 0, 1, 0x80, 0xff, 0x3f, 0x7f))
		if d == pb.TensorProto_BOOL {
			t.RawData[i] &= 1
		}
	}
	return t
}

func (r *misuser) attr(name string) *pb.AttributeProto {
	switch r.IntN(9) {
	case 0, 1:
		return attrInt(name, r.int())
	case 2, 3:
		return attrInts(name, r.ints()...)
	case 4:
		return attrFloat(name, r.float())
	case 5:
		return attrText(name, r.text())
	case 6:
		return attrTensor(name, r.tensor())
	case 7:
		return &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_FLOATS.Enum(), Floats: []float32{r.float(), r.float()}}
	}
	return attrGraph(name, &pb.GraphProto{Node: []*pb.NodeProto{relu("x0", "z")}, Output: values(value("z", nil))})
}

// model returns a model of one node of the operator.
func (r *misuser) model() *pb.ModelProto {
	domain, name, ok := strings.Cut(r.op.Name, ":")
	if !ok {
		domain, name = "", r.op.Name
	}
	g := &pb.GraphProto{}
	n := node(name, nil, nil)
	n.Domain = &domain
	shape := []any{}
	for range r.IntN(6) {
		shape = append(shape, pick[any](r, 1, 2, 3, 4, "N", "M", 0))
	}
	for i := range r.IntN(7) {
		x := fmt.Sprint("x", i)
		switch r.IntN(8) {
		case 0:
			x = ""
		case 1, 2:
			t := r.tensor()
			t.Name = &x
			g.Initializer = append(g.Initializer, t)
		default:
			if r.IntN(4) == 0 {
				shape = append([]any{}, shape[:r.IntN(len(shape)+1)]...)
			}
			g.Input = append(g.Input, value(x, tensorOfType(pick(r, elemTypes...), shape...)))
		}
		n.Input = append(n.Input, x)
	}
	for i := range pick(r, 0, 1, 1, 1, 2, 3, 6) {
		y := fmt.Sprint("y", i)
		n.Output = append(n.Output, y)
		g.Output = append(g.Output, value(y, nil))
	}
	for _, a := range r.attrs {
		if r.IntN(3) == 0 {
			n.Attribute = append(n.Attribute, r.attr(a))
		}
	}
	g.Node = []*pb.NodeProto{n}
	if len(g.Output) == 0 {
		g.Output = values(value("x0", nil))
	}
	m := model(g)
	m.OpsetImport = []*pb.OperatorSetIdProto{opset("", int64(pick(r, r.op.Since...)))}
	if domain != "" {
		m.OpsetImport = append(m.OpsetImport, opset(domain, int64(pick(r, r.op.Since...))))
	}
	return m
}

// TestMisuse imports nodes of every operator with operands and attributes that do
// not fit. None is an error of the runtime's, and what is imported can be
// evaluated or says why not.
func TestMisuse(t *testing.T) {
	for i, rule := range op.ONNX {
		t.Run(rule.Name, func(t *testing.T) {
			r := &misuser{rand.New(rand.NewPCG(uint64(i), 1)), rule, nil}
			seen := map[string]bool{}
			imported := 0
			for trial := range 400 {
				data := encode(t, r.model())
				im, err := newImporter("model.onnx", data, nil, Options{})
				if err != nil {
					t.Fatal(err)
				}
				im.watch = func(attr string) {
					if !seen[attr] {
						seen[attr] = true
						r.attrs = append(r.attrs, attr)
					}
				}
				err = im.run()
				if err != nil {
					for _, bad := range []string{"do not fit it", "runtime error", "bug", "%!", "nil"} {
						if strings.Contains(err.Error(), bad) {
							t.Fatalf("trial %d: %v\n%s", trial, err, proto.MarshalOptions{}.Deterministic)
						}
					}
					continue
				}
				imported++
				roundTrip(t, im.Module)
				evaluate(t, im.Module)
			}
			if imported == 0 {
				t.Log("nothing could be imported")
			}
		})
	}
}

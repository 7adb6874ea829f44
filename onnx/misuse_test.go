package onnx

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// misuser draws nodes with operands and attributes that mostly do not fit.
type misuser struct {
	*rand.Rand
	op    op.Rule
	attrs []asked
}

// asked is an attribute that an operator has been seen to ask for.
type asked struct {
	name string
	kind pb.AttributeProto_AttributeType
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
	bits := dtypes[wire.DataType(d)].Bits()
	t.RawData = make([]byte, (n*int64(bits)+7)/8)
	for i := range t.RawData {
		t.RawData[i] = byte(pick(r, 0, 0, 1, 0x80, 0xff, 0x3f, 0x7f))
		if d == pb.TensorProto_BOOL {
			t.RawData[i] &= 1
		}
	}
	return t
}

// attr returns a value for an attribute, mostly of the right kind.
func (r *misuser) attr(a asked) *pb.AttributeProto {
	kind := a.kind
	if r.IntN(4) == 0 {
		kind = pick(r, pb.AttributeProto_INT, pb.AttributeProto_INTS, pb.AttributeProto_FLOAT, pb.AttributeProto_FLOATS, pb.AttributeProto_STRING, pb.AttributeProto_STRINGS, pb.AttributeProto_TENSOR, pb.AttributeProto_GRAPH)
	}
	switch kind {
	case pb.AttributeProto_INT:
		return attrInt(a.name, r.int())
	case pb.AttributeProto_INTS:
		return attrInts(a.name, r.ints()...)
	case pb.AttributeProto_FLOAT:
		return attrFloat(a.name, r.float())
	case pb.AttributeProto_STRING:
		return attrText(a.name, r.text())
	case pb.AttributeProto_TENSOR:
		return attrTensor(a.name, r.tensor())
	case pb.AttributeProto_FLOATS:
		return &pb.AttributeProto{Name: &a.name, Type: &kind, Floats: []float32{r.float(), r.float()}}
	case pb.AttributeProto_STRINGS:
		return &pb.AttributeProto{Name: &a.name, Type: &kind, Strings: [][]byte{[]byte(r.text())}}
	}
	return attrGraph(a.name, &pb.GraphProto{Node: []*pb.NodeProto{relu("x0", "z")}, Output: values(value("z", nil))})
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
	shape, elem := []any{}, pick(r, elemTypes...)
	symbols := pick(r, 1, 4, 20) // one extent in this many is a symbol
	for range r.IntN(6) {
		shape = append(shape, pick[any](r, 1, 2, 2, 3, 4, 4, 0))
		if r.IntN(symbols) == 0 {
			shape[len(shape)-1] = pick[any](r, "N", "M")
		}
	}
	for i := range pick(r, 0, 1, 1, 2, 2, 3, 3, 4, 5, 7) {
		x := fmt.Sprint("x", i)
		switch r.IntN(10) {
		case 0:
			x = ""
		case 1, 2:
			t := r.tensor()
			t.Name = &x
			g.Initializer = append(g.Initializer, t)
		default:
			if r.IntN(5) == 0 {
				shape = append([]any{}, shape[:r.IntN(len(shape)+1)]...)
			}
			if r.IntN(6) == 0 {
				elem = pick(r, elemTypes...)
			}
			g.Input = append(g.Input, value(x, tensorOfType(elem, shape...)))
		}
		n.Input = append(n.Input, x)
	}
	for i := range pick(r, 0, 1, 1, 1, 1, 1, 2, 3, 6) {
		y := fmt.Sprint("y", i)
		n.Output = append(n.Output, y)
		g.Output = append(g.Output, value(y, nil))
	}
	for _, a := range r.attrs {
		if r.IntN(4) == 0 {
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

// recorder is an importer that notes the attributes it is asked for.
type recorder struct {
	ir.Importer
	note func(attr string, kind pb.AttributeProto_AttributeType)
}

func (r recorder) Int(name string, def int) int {
	r.note(name, pb.AttributeProto_INT)
	return r.Importer.Int(name, def)
}

func (r recorder) Ints(name string, def []int) []int {
	r.note(name, pb.AttributeProto_INTS)
	return r.Importer.Ints(name, def)
}

func (r recorder) Float(name string, def float64) float64 {
	r.note(name, pb.AttributeProto_FLOAT)
	return r.Importer.Float(name, def)
}

func (r recorder) Floats(name string, def []float64) []float64 {
	r.note(name, pb.AttributeProto_FLOATS)
	return r.Importer.Floats(name, def)
}

func (r recorder) Text(name string, def string) string {
	r.note(name, pb.AttributeProto_STRING)
	return r.Importer.Text(name, def)
}

func (r recorder) Texts(name string, def []string) []string {
	r.note(name, pb.AttributeProto_STRINGS)
	return r.Importer.Texts(name, def)
}

func (r recorder) DType(name string, def ir.DType) ir.DType {
	r.note(name, pb.AttributeProto_INT)
	return r.Importer.DType(name, def)
}

func (r recorder) Tensor(name string) *ir.Tensor {
	r.note(name, pb.AttributeProto_TENSOR)
	return r.Importer.Tensor(name)
}

func (r recorder) Graph(name string, params []ir.Type) *ir.Block {
	r.note(name, pb.AttributeProto_GRAPH)
	return r.Importer.Graph(name, params)
}

// evaluate evaluates a module on zeros if its values are small and it has no loops. Operators may
// return errors but must not panic.
func evaluate(t *testing.T, m *ir.Module) {
	f := m.Func("forward").Clone()
	sizes := map[string]dim.Dim{}
	for _, s := range f.Symbols() {
		sizes[s] = dim.Const(2)
	}
	f.Subst(sizes)
	for n := range f.All() {
		if len(n.Blocks) > 0 {
			return
		}
		for _, r := range n.Results {
			if size, ok := r.Type.Elems().Int(); !ok || size > 1<<12 {
				return
			}
		}
	}
	var args []*ir.Tensor
	for _, p := range f.Params {
		shape, ok := p.Type.Static()
		if n, err := ir.CheckedLen(shape); !ok || !p.Type.IsTensor() || err != nil || n > 1<<12 {
			return
		}
		args = append(args, ir.NewTensor(p.Type.DType, shape...))
	}
	if _, err := (&ir.Evaluator{Module: m}).Run(f, args); err != nil && strings.Contains(err.Error(), "runtime error") {
		t.Error(err)
	}
}

var misuses = flag.Int("misuses", 300, "TestMisuse draws `n` nodes of each operator")

// TestMisuse imports nodes of every operator with operands and attributes that do not fit. The
// error must not be a runtime error. A module that is imported must evaluate, or return an error.
func TestMisuse(t *testing.T) {
	for i, rule := range op.ONNX {
		t.Run(rule.Name, func(t *testing.T) {
			r := &misuser{rand.New(rand.NewPCG(uint64(i), 1)), rule, nil}
			wrapped := rule
			wrapped.Import = func(c ir.Importer) ([]*ir.Value, error) {
				return rule.Import(recorder{c, func(attr string, kind pb.AttributeProto_AttributeType) {
					if !slices.Contains(r.attrs, asked{attr, kind}) {
						r.attrs = append(r.attrs, asked{attr, kind})
					}
				}})
			}
			rules[rule.Name] = &wrapped
			defer func() { rules[rule.Name] = &op.ONNX[i] }()
			imported := 0
			for range *misuses {
				m := r.model()
				read, err := Read("model.onnx", encode(t, m), nil, Options{})
				if err == nil {
					imported++
					roundTrip(t, read.Module)
					evaluate(t, read.Module)
				} else {
					for _, bad := range []string{"do not fit it", "runtime error", "bug", "%!", "nil"} {
						if strings.Contains(err.Error(), bad) {
							t.Error(err)
						}
					}
				}
				if t.Failed() {
					t.Fatal(prototext.Format(m))
				}
			}
			t.Logf("%d of %d could be imported", imported, *misuses)
		})
	}
}

package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn/record"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// sample returns a model with a weight of random initial values, a weight of given values, and a
// constant that is too long for the text.
func sample(t *testing.T) *record.Model {
	t.Helper()
	f := &ir.Func{Name: "forward", ResultNames: []string{"y"}}
	b := ir.NewBuilder(f)
	long := ir.NewTensor(ir.F32, 300)
	for i := range 300 {
		long.SetFloat(i, float64(i)/8)
	}
	given := ir.FloatTensor(ir.F32, 0.5, -2)
	err := ir.Try(func() {
		x := b.Param("x", ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(1)))
		x = b.Node(op.Mul{}, x, b.Const(long))
		x = b.Node(op.MatMul{}, x, b.Node(ir.Load{Name: "w", Type: ir.StaticTensor(ir.F32, 300, 2)}))
		b.Return(b.Node(op.Add{}, x, b.Node(ir.Load{Name: "b", Type: given.Type()})))
	})
	if err != nil {
		t.Fatal(err)
	}
	return &record.Model{
		Module: &ir.Module{Funcs: []*ir.Func{f}, Weights: []*ir.Weight{
			{Name: "w", Type: ir.StaticTensor(ir.F32, 300, 2)},
			{Name: "b", Type: given.Type(), Data: given.Bytes()},
		}},
		Weights: []record.Weight{
			{Name: "w", Init: rt.Init{Kind: rt.InitUniform, A: -0.1, B: 1. / 3}, Aliases: []string{"v"}, Pos: "m.go:3"},
			{Name: "b", Init: rt.Init{Kind: rt.InitGiven}, Frozen: true, Pos: "m.go:4"},
		},
		Methods:   []record.Method{{Name: "Forward", Func: "forward", Pos: "m.go:10:1"}},
		Structure: "Net\n",
	}
}

func write(t testing.TB, m *record.Model) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	m := sample(t)
	file := write(t, m)
	if !strings.HasPrefix(string(file), record.Header+"\n") {
		t.Errorf("the file begins with %.40q", file)
	}
	got, err := record.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Module.String(), got.Module.String()); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(got.Module.Weights[1].Data, m.Module.Weights[1].Data) || got.Module.Weights[0].Data != nil {
		t.Error("the weights' data differ")
	}
	m.Module, got.Module = nil, nil
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(file, write(t, sample(t))) {
		t.Error("another file is written the second time")
	}
}

func TestReadRefuses(t *testing.T) {
	good := string(write(t, sample(t)))
	for name, c := range map[string]struct{ old, new, want string }{
		"another version":            {record.Header, "burngen ir 0", "needs another version"},
		"a cut file":                 {good[len(good)-10:], "", "bytes"},
		"an unknown function":        {`"Func": "forward"`, `"Func": "forwarx"`, "no function @forwarx"},
		"a module that is not valid": {"-> (y: f32", "-> (y: f64", "section ir"},
		"a weight by another name":   {`"Name": "w"`, `"Name": "x"`, `weight 0 is "x"`},
		"given elements missing":     {"given/b", "given/c", `weight "b" begins as "given"`},
		"a constant missing":         {`"constant/2":`, `"constant/3":`, `data "constant/2" is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			file := strings.ReplaceAll(good, c.old, c.new)
			if file == good {
				t.Fatal("the file has not changed")
			}
			_, err := record.Read(strings.NewReader(file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(record.Header + "\nabout 2\n{}ir 0\ndata 10\n\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if m, err := record.Read(bytes.NewReader(file)); err == nil {
			write(t, m)
		}
	})
}

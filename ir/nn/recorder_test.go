package nn_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/nn/record"
)

// digits is the network of the guide.
type digits struct {
	Conv1, Conv2 nn.Conv2d
	FC1, FC2     nn.Linear
	Drop         nn.Dropout
	classes      int
}

func newDigits() *digits {
	return &digits{
		Conv1: nn.NewConv2d(1, 8, 3), Conv2: nn.NewConv2d(8, 16, 3),
		FC1: nn.NewLinear(16*8*8, 32), FC2: nn.NewLinear(32, 10),
		Drop: nn.Dropout{Rate: 0.5}, classes: 10,
	}
}

func (m *digits) Forward(image nn.Value) (logits nn.Value) {
	x := m.Conv1.Forward(image.Unsqueeze(1))
	x = nn.ReLU(m.Conv2.Forward(m.Drop.Forward(x)))
	x = nn.AdaptiveAvgPool2d(x, 8, 8).Flatten(1, -1)
	return m.FC2.Forward(nn.ReLU(m.Drop.Forward(m.FC1.Forward(x))))
}

func (m *digits) Loss(image, target nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(image)
	return nn.CrossEntropy(logits, target), logits
}

// method is a marked method of one signature.
func method(name, signature string, params, results string) nn.Method {
	return nn.Method{
		Name: name, Loss: strings.HasSuffix(name, "Loss"), Pos: "model.go:7:1", Signature: func() string { return signature },
		Params: strings.Fields(params), Results: strings.Fields(results),
	}
}

func recordDigits(t *testing.T) *record.Model {
	t.Helper()
	m, err := nn.Record(func(r *nn.Recorder) {
		m := newDigits()
		r.Model(m)
		r.Method(method("Forward", "(f32[N,28,28]) -> f32[N,10]", "image", "logits"), func(in []nn.Value) []nn.Value {
			return []nn.Value{m.Forward(in[0])}
		})
		r.Method(method("Loss", "(f32[N,28,28], i64[N]) -> (f32[], f32[N,10])", "image target", "loss logits"), func(in []nn.Value) []nn.Value {
			a, b := m.Loss(in[0], in[1])
			return []nn.Value{a, b}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRecord(t *testing.T) {
	m := recordDigits(t)
	t.Log(m.Module.String())
	t.Log(m.Structure)
	t.Logf("%+v", m.Weights)
}

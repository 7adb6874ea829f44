package nn_test

import (
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		_, err := nn.Record(func(r *nn.Recorder) {
			m := newDecoderOnly(50257, 768, 12)
			r.Model(m)
			r.Method(method("Loss", "(i64[N,S], i64[N,S]) -> f32[]", "tokens target", "loss"), func(in []nn.Value) []nn.Value {
				return []nn.Value{nn.CrossEntropy(m.forward(in[0]).Transpose(1, 2), in[1])}
			})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

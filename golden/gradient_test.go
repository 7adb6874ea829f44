package golden

import (
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/onnx"
)

var everyGradient = flag.Bool("gradients", false, "compare the gradients of large models with differences, too")

// gradientsFile holds a line for each model of the corpus, with a tab between: its
// name, and what becomes of its gradient.
const gradientsFile = "conformance/gradients.tsv"

// smallModel is how many operations the models take whose gradients are always
// compared.
const smallModel = 2_000_000

// TestModelGradients asserts that the gradients of whole models agree with differences,
// and that conformance/gradients.tsv says which models have none.
func TestModelGradients(t *testing.T) {
	cases, err := verify.Find([]string{corpus(t, "models")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(strings.TrimPrefix(c.Name, "models/"), func(t *testing.T) {
			m, err := onnx.Open(filepath.Join(c.Dir, "model.onnx"), onnx.Options{})
			if err != nil {
				t.Skip(err)
			}
			args, err := c.Arguments(m)
			if err != nil {
				t.Skip(err)
			}
			s, err := verify.NewSlopes(m)
			if errors.Is(err, verify.ErrConstant) {
				t.Skip(err)
			}
			if err != nil {
				t.Errorf("%v: %.300v", grad.Stops(err), err)
				return
			}
			n := s.Flops(args)
			t.Logf("%d flops", n)
			if n > smallModel && !*everyGradient {
				t.Skip("large")
			}
			if err := s.Check(args); err != nil {
				t.Error(err)
			}
		})
	}
}

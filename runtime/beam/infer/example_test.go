package infer_test

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/burngen/burngen/runtime/beam/infer"
	model "github.com/burngen/burngen/runtime/beam/internal/testmodel"
)

func init() {
	register.Function1x1(toItem)
	register.Function1x0(show)
}

func toItem(pixels []float32) infer.Item {
	return infer.Item{Key: "an image", Tensors: []infer.Tensor{infer.TensorOf(pixels, 1, 28, 28)}}
}

func show(f infer.Failure) { fmt.Println(f.Item.Key, f.Cause) }

func Example() {
	digits := infer.Package("digits", model.Load)
	beam.Init()
	p, s := beam.NewPipelineWithRoot()
	images := beam.ParDo(s, toItem, beam.CreateList(s, [][]float32{make([]float32, 28*28)}))
	logits, failures := infer.Items(s, digits, images, infer.Options{MaxBatch: 64, KeepGoing: true})
	beam.ParDo0(s, show, failures)
	_ = logits // the input of the next transform
	if err := beamx.Run(context.Background(), p); err != nil {
		fmt.Println(err)
	}
}

// Package metric measures how good predictions are: of classes, labels, numbers, text and pictures. A
// [Metric] makes a [Counter]. A counter gets the outputs of a model one after the other, and has a
// value at any time.
//
//	accuracy := metric.Accuracy().New()
//	for b, err := range batches.Epoch(ctx, 0, 0) {
//		r, err := model.Loss(b.X, b.Y)
//		accuracy.Add(metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: b.Y})
//	}
//	fmt.Println(accuracy.Value(), metric.Err(accuracy))
//
// Counters hold counts and sums over items, not averages of batches. So the value does not depend on
// how items are divided into batches. Several counters may each measure a part of the data and then
// be merged. An empty batch and padding change nothing. NaN means that there are no data.
//
// Outputs are [Classes], [Labels], [Values], [Tokens], [Texts], [Masks], [Pictures] and [Boxes]. [Of]
// adapts a type of your own.
//
// Shares and error rates, such as accuracy, F1, IoU and CER, are in percent. BLEU and chrF are from 0
// to 100, as usual. Coefficients and areas, such as AUROC, R² and SSIM, are not scaled.
//
// A counter does not panic on wrong outputs. It remembers the first error, its value becomes NaN, and
// [Err] returns the error. A counter is used by one goroutine at a time.
package metric

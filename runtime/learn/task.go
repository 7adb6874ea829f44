package learn

import (
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
)

// Task defines the processing of a batch of type B. O is the output that is measured.
type Task[B any, O metric.Output] struct {
	// Step trains on a batch: it adds to the gradients of the trainer's parameters.
	Step func(b *B) (O, error)
	// Eval computes the same output without training. Only validation and tests need it.
	Eval func(b *B) (O, error)
	// Items returns the number of items in the mean loss of Step. Padding does not count. Only
	// [Options].Accumulate needs Items. The method Lost of the output must return the same number.
	Items func(b *B) int
}

// Pairs returns the task of methods that take examples and targets, as the generated methods Step and Loss of a
// classifier do. out makes an output from the arguments and the result of a method. The number of items is the number
// of examples.
func Pairs[X, Y, R any, O metric.Output](step, eval func([]X, []Y) (R, error), out func(x []X, y []Y, r R) O) Task[data.Set[X, Y], O] {
	call := func(f func([]X, []Y) (R, error)) func(*data.Set[X, Y]) (O, error) {
		if f == nil || out == nil {
			return nil
		}
		return func(b *data.Set[X, Y]) (O, error) {
			r, err := f(b.X, b.Y)
			if err != nil {
				return *new(O), err
			}
			return out(b.X, b.Y, r), nil
		}
	}
	return Task[data.Set[X, Y], O]{Step: call(step), Eval: call(eval), Items: func(b *data.Set[X, Y]) int { return len(b.X) }}
}

// One returns the task of methods that take one list, such as the texts in which a language model
// predicts the next tokens. out makes an output from the argument and the result of a method. The
// number of items is the length of the list.
func One[X, R any, O metric.Output](step, eval func([]X) (R, error), out func(x []X, r R) O) Task[[]X, O] {
	call := func(f func([]X) (R, error)) func(*[]X) (O, error) {
		if f == nil || out == nil {
			return nil
		}
		return func(b *[]X) (O, error) {
			r, err := f(*b)
			if err != nil {
				return *new(O), err
			}
			return out(*b, r), nil
		}
	}
	return Task[[]X, O]{Step: call(step), Eval: call(eval), Items: func(b *[]X) int { return len(*b) }}
}

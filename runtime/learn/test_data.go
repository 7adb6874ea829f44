package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/burngen/burngen/runtime/data"
)

// Test measures the data of `test`, which are neither trained nor validated on, with the current weights. It uses the
// averages of the weights if the learner averages weights. It does not change the folder of a run. It returns an
// error if the task has no Eval, ctx ends, or a batch cannot be loaded, evaluated or measured.
func (l *Learner[B, O]) Test(ctx context.Context, test *data.Loader[B]) (*Run, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	switch {
	case test == nil:
		return nil, errors.New("learn: no test data")
	case test.Err() != nil:
		return nil, fmt.Errorf("learn: test data: %w", test.Err())
	case l.task.Eval == nil:
		return nil, errors.New("learn: the task has no Eval")
	}
	begin := l.now()
	l.trainer.SetContext(ctx)
	defer l.trainer.SetContext(context.Background())
	c := newCounters(l.metrics, l.o.recent())
	if err := l.evaluate(ctx, test, c, func(Stepped) error { return nil }); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	values, err := c.values()
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	now := l.now()
	r := &Run{Stopped: Stopped{Time: now, Reason: count(int(c.items), "item") + " tested", Done: true, Took: now.Sub(begin)}, trainer: l.trainer, average: l.o.Average}
	for i, s := range l.series {
		r.Results = append(r.Results, Result{Series: s, Split: Test, Last: values[i].Value, Best: nan})
	}
	return r, nil
}

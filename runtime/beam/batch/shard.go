package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/burngen/burngen/runtime/beam/infer"
)

func init() {
	register.DoFn2x1[context.Context, Shard, error](&shardFn{})
}

// shardFn computes shards.
type shardFn struct {
	Model    infer.Model
	MaxBatch int

	loaded *infer.Loaded
}

// Setup loads the model, once in a process.
func (f *shardFn) Setup() (err error) {
	f.loaded, err = f.Model.Load()
	return err
}

func (f *shardFn) ProcessElement(ctx context.Context, s Shard) error {
	err := f.compute(ctx, s)
	if err != nil && ctx.Err() == nil {
		first.Do(func() { firstError = err })
	}
	return err
}

// The first error of a shard in this process. A runner in the process wraps it in texts of its own.
var (
	first      sync.Once
	firstError error
)

// compute writes the results of a shard. Its batches begin with its first item.
func (f *shardFn) compute(ctx context.Context, s Shard) error {
	kind, err := formatOf(s.Path)
	if err != nil {
		return err
	}
	in, _, err := openRegular(s.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	defer in.Close()
	next, err := kind.open(in, s, f.loaded)
	if err != nil {
		return err
	}
	return writeFiles(s.Out, func(w []io.Writer) error {
		write := kind.write(w, s.Items, f.loaded)
		for from := 0; from < s.Items; from += f.MaxBatch {
			var items []infer.Item
			for range min(f.MaxBatch, s.Items-from) {
				it, err := next()
				if err != nil {
					return err
				}
				items = append(items, it)
			}
			out, errs := infer.Measured(ctx, f.loaded, items)
			for i, err := range errs {
				if err == nil {
					err = write(out[i])
				}
				if err != nil {
					return fmt.Errorf("%s: %w", items[i].Key, err)
				}
			}
		}
		return nil
	})
}

// run computes shards in a pipeline.
func run(ctx context.Context, m infer.Model, maxBatch int, shards []Shard, execute func(context.Context, *beam.Pipeline) error) error {
	p, s := beam.NewPipelineWithRoot()
	// Reshuffle lets the runner give shards to different workers.
	all := beam.Reshuffle(s, beam.CreateList(s, shards))
	beam.ParDo0(s.Scope("batch.Shards"), &shardFn{Model: m, MaxBatch: maxBatch}, all)
	err := execute(ctx, p)
	if err != nil && firstError != nil {
		return firstError
	}
	if err == nil {
		for _, s := range shards {
			if missing := s.missing(); missing != "" {
				return errors.New(missing + " was not written where this program runs: the workers need the same file system")
			}
		}
	}
	return err
}

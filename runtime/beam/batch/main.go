package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/burngen/burngen/runtime/beam/infer"
	"github.com/burngen/burngen/runtime/rt"
)

// Main is a program that computes the items of files with a model. It reads flags from the command line, Beam's
// among them; -help lists them. It exits with 2 for wrong flags, and with 1 if it cannot compute an item. If it is
// killed, the same command goes on with the shards that are not whole.
func Main(m infer.Model) {
	o := flags(flag.CommandLine, &m)
	flag.Parse()
	beam.Init() // a worker does not return from here
	if err := o.check(flag.CommandLine); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := o.compute(context.Background(), m, os.Stderr, beamx.Run); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options holds the values of Main's flags.
type options struct {
	in, out         string
	batch, perShard int
	threads         int
	log             string
}

func flags(f *flag.FlagSet, m *infer.Model) *options {
	o := &options{}
	f.StringVar(&o.in, "in", "", "compute the items of the files that match `GLOB`: .jsonl or .npy")
	f.StringVar(&o.out, "out", "", "write results to `PREFIX`-00000-of-00001.jsonl and so on")
	f.IntVar(&o.batch, "batch", infer.DefaultBatch, "compute up to `N` items at once")
	f.IntVar(&o.perShard, "shard", 10000, "write up to `N` items to a file")
	f.IntVar(&o.threads, "threads", 0, "compute a batch with `N` threads at most (default: the number of cores)")
	f.StringVar(&o.log, "log", "off", "write Beam's messages of `LEVEL` and above to standard error: debug, info, warn, error or off")
	f.StringVar(&m.File, "file", m.File, "load a package that has its weights in a file from `FILE`")
	f.StringVar(&m.Method, "method", "", "call the method `NAME` of the package (default: the first)")
	return o
}

func (o *options) check(f *flag.FlagSet) error {
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; a GLOB needs quotes", f.Arg(0))
	case o.in == "" || o.out == "":
		return errors.New("-in GLOB and -out PREFIX are needed")
	case o.batch < 1 || o.perShard < 1:
		return errors.New("-batch and -shard are 1 at least")
	case !slices.Contains([]string{"debug", "info", "warn", "error", "off"}, o.log):
		return fmt.Errorf("-log %s: debug, info, warn, error or off expected", o.log)
	}
	return nil
}

// compute computes the shards that are not whole, and writes a line about the run to `log`.
func (o *options) compute(ctx context.Context, m infer.Model, log io.Writer, execute func(context.Context, *beam.Pipeline) error) error {
	if o.threads > 0 {
		rt.Threads(o.threads)
	}
	l, err := m.Load()
	if err != nil {
		return err
	}
	digest, err := digestOf(m)
	if err != nil {
		return err
	}
	p, err := newPlan(o.in, o.out, digest, o.batch, o.perShard, l)
	if err != nil {
		return err
	}
	missing, err := p.begin(o.out)
	if err != nil {
		return err
	}
	items := 0
	for _, in := range p.manifest.Inputs {
		items += in.Items
	}
	fmt.Fprintf(log, "files: %d, items: %d, shards: %d, of which %d are whole\n", len(p.manifest.Inputs), items, len(p.shards), len(p.shards)-len(missing))
	if len(missing) == 0 {
		return nil
	}
	for _, s := range missing {
		removePartial(s)
	}
	if o.log == "off" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	} else {
		beamlog.SetupLogging(o.log, "text")
	}
	return run(ctx, m, o.batch, missing, execute)
}

// digestOf returns the digest of this program, and of the model's file if it has one. A program has the code of the
// model, and mostly its weights.
func digestOf(m infer.Model) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, path := range []string{program, m.File} {
		if path == "" {
			continue
		}
		if err := addFile(h, path); err != nil {
			return "", err
		}
	}
	fmt.Fprint(h, m.Method)
	return hex.EncodeToString(h.Sum(nil)), nil
}

func addFile(h hash.Hash, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(h, f)
	fmt.Fprintf(h, "\x00%d\x00", n)
	return err
}

// Package callers runs a generated model for several callers at once, on behalf of command throughput.
package callers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/bench/worker"
	"github.com/burngen/burngen/runtime/rt"
)

// Main is the main function of a program with callers. The functions are those of a generated package, as for
// [worker.Main]. All callers share the model, and each has its own session.
//
// The program has four arguments: the number of callers; the number of threads of an operator, where 0 is the
// default; a file with the inputs; and a file for the outputs. The files have the format of package tensors. Each
// caller calls the model once. The program returns an error unless all outputs are the same. It writes the outputs
// and prints "ready". Then it answers each line "load D", where D is a duration: all callers call the model over and
// over until the time is over. The answer is a line for each caller, with the times of its calls in nanoseconds.
func Main[M, S, X, Y any](load func() (*M, error), meta func(*M) rt.Meta, open func(*M, rt.Max) (*S, error), forward func(*S, Y, X) error) {
	if err := run(os.Args[1:], worker.Opener(sync.OnceValues(load), meta, open, forward)); err != nil {
		fmt.Fprintf(os.Stderr, "callers: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, open worker.Open) error {
	if len(args) != 4 {
		return errors.New("want four arguments: CALLERS THREADS INPUTS OUTPUTS")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return fmt.Errorf("callers %q, want a number above 0", args[0])
	}
	threads, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if threads > 0 {
		rt.Threads(threads)
	}
	in, err := tensors.Read(args[2])
	if err != nil {
		return err
	}
	calls, out, err := prepare(n, in, open)
	if err != nil {
		return err
	}
	if err := tensors.Write(args[3], out); err != nil {
		return err
	}
	return obey(os.Stdin, os.Stdout, calls)
}

// prepare opens the model for n callers and calls it once for each of them. It returns the function of each caller
// and the outputs. It returns an error unless the outputs of all callers are the same bits.
func prepare(n int, in []tensors.Tensor, open worker.Open) (calls []func() error, out []tensors.Tensor, err error) {
	for i := range n {
		p, err := open(in)
		if err != nil {
			return nil, nil, err
		}
		if err := p.Run(); err != nil {
			return nil, nil, err
		}
		got, err := p.Outputs()
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			out = got
		}
		for k := range got {
			if !bytes.Equal(got[k].Data, out[k].Data) {
				return nil, nil, fmt.Errorf("output %q of caller %d differs from the first caller's", got[k].Name, i)
			}
		}
		calls = append(calls, p.Run)
	}
	return calls, out, nil
}

func obey(in io.Reader, out io.Writer, calls []func() error) error {
	fmt.Fprintln(out, "ready")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var text string
		if _, err := fmt.Sscanf(lines.Text(), "load %s", &text); err != nil {
			return fmt.Errorf("unknown command %q", lines.Text())
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		all, err := callFor(d, calls)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(out)
		for _, times := range all {
			for i, t := range times {
				if i > 0 {
					w.WriteByte(' ')
				}
				w.WriteString(strconv.FormatInt(t.Nanoseconds(), 10))
			}
			w.WriteByte('\n')
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// callFor runs the callers at the same time. Each calls its function until time d is over, and at least once.
// callFor returns the times of the calls of each caller.
func callFor(d time.Duration, calls []func() error) ([][]time.Duration, error) {
	all, errs := make([][]time.Duration, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for i, call := range calls {
		wg.Go(func() {
			for begin := time.Now(); ; {
				if errs[i] = call(); errs[i] != nil {
					return
				}
				now := time.Now()
				all[i] = append(all[i], now.Sub(begin))
				if begin = now; !now.Before(end) {
					return
				}
			}
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}

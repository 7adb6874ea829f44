package callers

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/bench/worker"
)

func TestCallersAnswerALineEach(t *testing.T) {
	var count atomic.Int64
	call := func() error { count.Add(1); return nil }
	var out bytes.Buffer
	if err := obey(strings.NewReader("load 1ms\nload 0s\n"), &out, []func() error{call, call, call}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 7 || lines[0] != "ready" {
		t.Fatalf("%d lines, the first is %q; want ready and six lines of times", len(lines), lines[0])
	}
	times := int64(0)
	for _, l := range lines[1:] {
		times += int64(len(strings.Fields(l)))
	}
	if times != count.Load() {
		t.Errorf("%d times of %d calls", times, count.Load())
	}
	if n := len(strings.Fields(lines[6])); n != 1 {
		t.Errorf("%d calls in no time, want 1", n)
	}
}

func TestErrorsOfCallers(t *testing.T) {
	failure := errors.New("no")
	if _, err := callFor(time.Hour, []func() error{func() error { return failure }, func() error { return failure }}); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the call", err)
	}
	if err := obey(strings.NewReader("run 1 1\n"), new(bytes.Buffer), nil); err == nil {
		t.Error("no error for a command of another protocol")
	}
}

func TestCallersMustAgree(t *testing.T) {
	for _, differs := range []bool{false, true} {
		n := byte(0)
		open := func([]tensors.Tensor) (*worker.Program, error) {
			if differs {
				n++
			}
			data := []byte{n}
			return &worker.Program{
				Run:     func() error { return nil },
				Outputs: func() ([]tensors.Tensor, error) { return []tensors.Tensor{{Name: "y", Data: data}}, nil },
			}, nil
		}
		calls, _, err := prepare(3, nil, open)
		if (err != nil) != differs || err == nil && len(calls) != 3 {
			t.Errorf("%d callers, error %v; the outputs differ: %v", len(calls), err, differs)
		}
	}
}

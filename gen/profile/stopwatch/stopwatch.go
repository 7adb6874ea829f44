// Package stopwatch is the library of the program that package profile builds. It calls a generated
// package repeatedly and measures the time of whole calls and of steps. It does not know what the
// steps compute.
package stopwatch

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// Package is a generated package.
type Package struct {
	// Open loads the model with the weights of a file. It returns the method Forward of a session and of the model.
	Open func(weights string) (session, model any, err error)
	// Lap is the variable that the package calls after each step, or nil.
	Lap *func(step int)
}

// Request describes a measurement: the inputs of each call, and the number of threads.
type Request struct {
	Code    string // identifies the code that the program must have been built from
	Weights string // file of the weights
	Inputs  []harness.Value
	Threads int
	Steps   int           // number of steps in the package with laps
	Time    time.Duration // approximate time of each part of the measurement
}

// Reply is the result of a measurement.
type Reply struct {
	// Calls are the times of calls of the package without laps.
	Calls []time.Duration
	// Laps are the times of the steps, each the median over calls.
	Laps []time.Duration
	// Shared says how the threads shared the steps, each the mean over calls.
	Shared []rt.Sharing
	// Multiply is the number of floating-point operations per nanosecond that one core reaches in
	// multiply-adds. It is 0 if the kernels are plain Go.
	Multiply float64
	// Read is the number of bytes per nanosecond that one core reads from memory.
	Read float64
	// Level is the instruction set of the kernels.
	Level string
	// Device has the measurements of a device, or is nil.
	Device *Device
	Err    string // error that ended the measurement, or ""
}

// Main reads a [Request] from standard input and writes the [Reply] to standard output. code identifies the
// program's code. A request for other code gets an error.
func Main(code string, plain, timed Package) {
	serve(code, func(q Request) (Reply, error) { return measure(q, plain, timed) })
}

// serve answers the request on standard input with the result of the function `measure`.
func serve(code string, measure func(Request) (Reply, error)) {
	var q Request
	err := gob.NewDecoder(os.Stdin).Decode(&q)
	if err == nil && q.Code != code {
		err = errors.New("the program was built for another model, or with other options")
	}
	var r Reply
	if err == nil {
		r, err = measure(q)
	}
	if err != nil {
		r.Err = err.Error()
	}
	if err := reply(os.Stdout, r); err != nil {
		fmt.Fprintln(os.Stderr, "stopwatch:", err)
		os.Exit(1)
	}
}

func reply(w io.Writer, r Reply) error { return gob.NewEncoder(w).Encode(r) }

func measure(q Request, plain, timed Package) (r Reply, err error) {
	rt.Threads(q.Threads)
	r.Level = cpu.CurrentLevel().String()
	r.Multiply, r.Read = multiplyRate(), readRate()
	forward, err := open(plain, q)
	if err != nil {
		return r, err
	}
	if r.Calls, err = repeat(q.Time, forward); err != nil {
		return r, err
	}
	if forward, err = open(timed, q); err != nil {
		return r, err
	}
	laps, calls := make([][]time.Duration, q.Steps), 0
	sums := make([]time.Duration, q.Steps)
	overhead := clockOverhead()
	shared := make([]rt.Sharing, q.Steps)
	var pool rt.Sharing // since the last lap
	rt.WatchThreads(&pool)
	defer rt.WatchThreads(nil)
	last := time.Now()
	*timed.Lap = func(step int) {
		now := time.Now()
		sums[step] += now.Sub(last) - overhead
		add(&shared[step], pool)
		pool = rt.Sharing{}
		last = now
	}
	_, err = repeat(q.Time, func() error {
		clear(sums)
		last = time.Now()
		if err := forward(); err != nil {
			return err
		}
		if calls++; calls == warmUp {
			clear(shared)
		}
		if calls > warmUp {
			for i, d := range sums {
				laps[i] = append(laps[i], d)
			}
		}
		return nil
	})
	for _, times := range laps {
		r.Laps = append(r.Laps, max(0, Median(times)))
	}
	for _, s := range shared {
		r.Shared = append(r.Shared, mean(s, calls-warmUp))
	}
	return r, err
}

func add(a *rt.Sharing, b rt.Sharing) {
	a.Runs += b.Runs
	a.Workers += b.Workers
	a.Span += b.Span
	a.Busy += b.Busy
	a.Longest += b.Longest
}

func mean(s rt.Sharing, calls int) rt.Sharing {
	n := time.Duration(max(1, calls))
	return rt.Sharing{
		Runs: s.Runs / int(n), Workers: s.Workers / int(n),
		Span: s.Span / n, Busy: s.Busy / n, Longest: s.Longest / n,
	}
}

// open returns a function that calls a session of the package on the inputs of q. Each call writes the results to the
// same memory.
func open(p Package, q Request) (forward func() error, err error) {
	session, model, err := p.Open(q.Weights)
	if err != nil {
		return nil, err
	}
	return bind(session, model, q.Inputs)
}

// bind returns a function that calls Forward of a session on inputs. Each call writes the results to the same memory.
// bind calls Forward of the model once, for the shapes of the results.
func bind(session, model any, inputs []harness.Value) (forward func() error, err error) {
	run, once := reflect.ValueOf(session), reflect.ValueOf(model)
	args := make([]reflect.Value, run.Type().NumIn())
	for i := range args {
		args[i] = reflect.New(run.Type().In(i)).Elem()
	}
	if err := harness.Fill(args[1:], inputs); err != nil {
		return nil, err
	}
	made := once.Call(args[1:])
	if err := failure(made[1]); err != nil {
		return nil, err
	}
	if dst := made[0]; dst.Type() == args[0].Type() {
		args[0].Set(dst)
	} else {
		args[0].Set(reflect.New(dst.Type()))
		args[0].Elem().Set(dst)
	}
	return func() error { return failure(run.Call(args)[0]) }, nil
}

func failure(v reflect.Value) error {
	err, _ := v.Interface().(error)
	return err
}

const (
	warmUp   = 3
	minCalls = 11
	maxCalls = 100_000
)

// repeat calls step for about budget, but at least minCalls and at most maxCalls times. It returns the
// times of all calls except the first few.
func repeat(budget time.Duration, step func() error) (times []time.Duration, err error) {
	begin := time.Now()
	for i := range maxCalls {
		start := time.Now()
		if err := step(); err != nil {
			return nil, err
		}
		end := time.Now()
		if i >= warmUp {
			times = append(times, end.Sub(start))
		}
		if len(times) >= minCalls && end.Sub(begin) > budget {
			break
		}
	}
	return times, nil
}

// Median returns the median, or 0 for an empty list. If there are two middle times, it is the larger one.
func Median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// clockOverhead returns the time that reading the clock adds to a lap.
func clockOverhead() time.Duration {
	var times []time.Duration
	for range 1000 {
		start := time.Now()
		times = append(times, time.Since(start))
	}
	return Median(times)
}

// attempts is the number of measurements from which [multiplyRate] takes the best. [readRate] makes a
// third as many.
const attempts = 10

func multiplyRate() (best float64) {
	for range attempts {
		start := time.Now()
		n := cpu.MultiplyAdds(100_000)
		best = max(best, float64(n)/float64(time.Since(start)))
	}
	return best
}

// readRate returns the bytes per nanosecond at which one core sums an array that exceeds the
// caches.
func readRate() (best float64) {
	const n = 32 << 20
	src, sum := make([]float32, n), make([]float32, 1)
	for i := range src {
		src[i] = 1
	}
	for range attempts / 3 {
		start := time.Now()
		cpu.ReduceSum(sum, src, 1, n, 1)
		best = max(best, 4*n/float64(time.Since(start)))
	}
	return best
}

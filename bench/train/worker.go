package main

// worker is the source of a model's program. The program times steps of one of its packages, `plain` or `timed`.
// It also writes the weights, the loss and the gradients of a step of package `compared`, which may be `plain`.
// [kase.build] replaces CLASSES, ARGS, STEPS, BATCH and COMPARED.
const worker = `// Command step times training steps.
package main

import (
	"encoding/json"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	compared "step/COMPARED"
	"step/plain"
	"step/timed"

	"github.com/burngen/burngen/runtime/rt"
)

// fill draws elements that torch_side.py draws too.
func fill(v reflect.Value, n *int) {
	switch v.Kind() {
	case reflect.Float32:
		v.SetFloat(float64(float32(float64(*n*7919%2003)/1001.5 - 1)))
		*n++
	case reflect.Int64:
		v.SetInt(int64(*n * 7919 % 2003 % CLASSES))
		*n++
	default:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	}
}

func filled[T any](v T) T {
	n := 0
	fill(reflect.ValueOf(v), &n)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func open[M any](m M, err error) M {
	check(err)
	return m
}

// peak is the greatest resident memory so far, and resident what there is now, in megabytes.
func status(key string) float64 {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(n) / 1024
		}
	}
	return 0
}

func main() {
	dir, kind := os.Args[1], os.Args[2]
	threads, err := strconv.Atoi(os.Args[3])
	check(err)
	seconds, err := strconv.ParseFloat(os.Args[4], 64)
	check(err)
	rt.Threads(threads)
	runtime.GOMAXPROCS(max(threads, 2))
	w := rt.OpenWeightsFile(dir + "/initial.safetensors")
	_, err = w.WriteTo(io.Discard) // the other side too has read them before it measures
	check(err)
	var step func() float32
	laps := make([][]float64, STEPS)
	args := of(ARGS)
	before := 0.0
	if kind == "timed" {
		t, err := open(timed.LoadFrom(w)).NewTrainer(timed.TrainerOptions{Batch: BATCH})
		check(err)
		now := time.Now()
		sums := make([]float64, STEPS)
		timed.Lap = func(i int) {
			then := now
			now = time.Now()
			sums[i] += now.Sub(then).Seconds() * 1e3
		}
		step = func() float32 {
			clear(sums)
			now = time.Now()
			loss, err := t.Step(args.x, args.target)
			check(err)
			for i, v := range sums {
				laps[i] = append(laps[i], v)
			}
			return loss
		}
	} else {
		before = status("VmRSS")
		t, err := open(plain.LoadFrom(w)).NewTrainer(plain.TrainerOptions{Batch: BATCH})
		check(err)
		p := t.Params()
		step = func() float32 {
			loss, err := t.Step(args.x, args.target)
			check(err)
			p.UseUp()
			return loss
		}
	}
	step()
	step()
	var times []float64
	begin := time.Now()
	for time.Since(begin).Seconds() < seconds || len(times) < 3 {
		now := time.Now()
		step()
		times = append(times, time.Since(now).Seconds()*1e3)
	}
	r := struct {
		Median, Peak float64
		Laps         []float64
	}{Median: median(times), Peak: status("VmHWM") - before}
	for _, l := range laps {
		if len(l) > 0 {
			r.Laps = append(r.Laps, median(l))
		} else {
			r.Laps = append(r.Laps, 0)
		}
	}
	if kind == "plain" {
		t, err := open(compared.LoadFrom(w)).NewTrainer(compared.TrainerOptions{Batch: BATCH})
		check(err)
		loss, err := t.Step(args.x, args.target)
		check(err)
		save(dir+"/state.safetensors", t.Params(), loss)
	}
	check(json.NewEncoder(os.Stdout).Encode(r))
}

// save writes weights, their gradients and the loss to a file.
func save(file string, p *rt.Params, loss float32) {
	w := rt.NewWeights()
	for _, i := range p.Items {
		n := 1
		for _, d := range i.Shape {
			n *= d
		}
		rt.Add(w, i.Name, p.Data[i.Off:][:n], i.Shape...)
		rt.Add(w, "grad/"+i.Name, p.Grad[i.Off:][:n], i.Shape...)
	}
	rt.Add(w, "loss", []float32{loss}, 1)
	f, err := os.Create(file)
	check(err)
	_, err = w.WriteTo(f)
	check(err)
	check(f.Close())
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

type arguments[X, T any] struct {
	x      X
	target T
}

func of[X, T any](x X, target T) arguments[X, T] { return arguments[X, T]{filled(x), filled(target)} }

`

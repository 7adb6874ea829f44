// Command weights measures how burngen handles a large weights file. It measures opening the file;
// reading it, compared with PyTorch's torch.load; and generating packages with it, compared with cp
// of the same file. It removes the files that it writes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/rt"
)

var (
	layers = flag.Int("layers", 32, "linear layers of 16.8 MB, beside a table")
	tokens = flag.Int("tokens", 65536, "rows of that table, of 8 KB")
	rounds = flag.Int("rounds", 7, "rounds, of which the fastest counts")
	python = flag.String("python", "/usr/bin/python3", "Python with PyTorch")
	keep   = flag.Bool("keep", false, "leave the files there")
	dir    = flag.String("dir", "out/weights", "where the files are written, which takes four times the size of one")
	only   = flag.String("only", "", "make the files and measure `PART` alone: open, pt or gen")
)

func main() {
	flag.Parse()
	err := run()
	if !*keep {
		err = errors.Join(err, os.RemoveAll(*dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	plain, torch := filepath.Join(*dir, "w.safetensors"), filepath.Join(*dir, "w.pt")
	if err := write(plain); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"open", func() error { return opening(plain) }},
		{"pt", func() error { return reading(plain, torch) }},
		{"gen", func() error { return generating(plain) }},
	} {
		if *only == "" || *only == part.name {
			if err := part.measure(); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

type net struct {
	Table  nn.Embedding
	Layers []nn.Linear
}

const width = 2048

func source() (*gen.Source, error) {
	r, err := nn.Record(func(r *nn.Recorder) {
		m := &net{Table: nn.NewEmbedding(*tokens, width)}
		for range *layers {
			m.Layers = append(m.Layers, nn.NewLinear(width, width))
		}
		r.Model(m)
		r.Method(nn.Method{
			Name: "Forward", Pos: "model.go:1:1", Params: []string{"ids"}, Results: []string{"y"},
			Signature: func() string { return "(i64[N]) -> f32[N,2048]" },
		}, func(in []nn.Value) []nn.Value {
			x := m.Table.Forward(in[0])
			for _, l := range m.Layers {
				x = nn.ReLU(l.Forward(x))
			}
			return []nn.Value{x}
		})
	})
	if err != nil {
		return nil, err
	}
	return gen.FromRecord("large", "model.go", strings.Repeat("0", 64), nil, r)
}

// write writes random weights of the model to a safetensors file, unless path exists.
func write(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	src, err := source()
	if err != nil {
		return err
	}
	w := rt.NewWeights()
	for i, want := range src.Wanted() {
		n := 1
		for _, d := range want.Shape {
			n *= d
		}
		x := rt.Make[float32](n)
		rt.Uniform(x, -0.02, 0.02, uint32(i))
		rt.Add(w, want.Name, x, want.Shape...)
	}
	return errors.Join(os.MkdirAll(*dir, 0o777), w.Save(path))
}

func fastest(f func() error) (time.Duration, error) {
	var times []time.Duration
	for range *rounds {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return slices.Min(times), nil
}

func size(path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return float64(info.Size())
}

func opening(path string) error {
	took, err := fastest(func() error {
		w := rt.OpenWeightsFile(path)
		defer w.Close()
		return w.Err()
	})
	fmt.Printf("open safetensors of %.2f GB   %8.3f ms\n", size(path)/1e9, took.Seconds()*1e3)
	return err
}

// use reads one float32 of every 4 KiB of each tensor, and returns a sum of them, so that the reads are not optimised
// away.
func use(w *rt.Weights) (sum byte) {
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		x := rt.WeightsOf[float32](w, name, info.Shape...)
		for i := 0; i < len(x); i += 1024 {
			sum += byte(x[i])
		}
	}
	return sum
}

// reading compares the time of pytorch.Open with the time of torch.load. torch is a file of torch.save. It is made
// from `plain` if it does not exist. Open verifies all checksums. Both sides touch all pages.
func reading(plain, torch string) error {
	if size(torch) == 0 {
		if out, err := exec.Command(*python, "weights/torch_side.py", "save", plain, torch).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	took, err := fastest(func() error {
		w, err := pytorch.Open(torch)
		if err != nil {
			return err
		}
		defer w.Close()
		use(w)
		return w.Err()
	})
	if err != nil {
		return err
	}
	fmt.Printf("read zip .pt of %.2f GB       %8.1f ms   %.2f GB/s\n", size(torch)/1e9, took.Seconds()*1e3, size(torch)/1e9/took.Seconds())
	out, err := exec.Command(*python, "weights/torch_side.py", "load", torch, strconv.Itoa(*rounds)).Output()
	if err != nil {
		return err
	}
	theirs, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	fmt.Printf("torch.load of it             %8.1f ms   ratio %.2f\n", theirs*1e3, theirs/took.Seconds())
	return err
}

// generating compares the time of cp with the time of generating packages that keep their weights in a separate file.
// All of them run in each round. Before each run, the previous output is removed, and pending writes are flushed to
// the disk. The shortest time of each counts, because the times of disks and virtual machines vary.
func generating(path string) error {
	to := filepath.Join(*dir, "to")
	contenders := []struct {
		name string
		run  func() error
	}{
		{"cp", func() error { return exec.Command("cp", path, filepath.Join(to, "copy")).Run() }},
		{"package prepared", func() error { return generate(path, to, gen.Options{}) }},
		{"package that keeps them raw", func() error { return generate(path, to, gen.Options{Keep: emit.KeepRaw}) }},
		{"package that trains", func() error { return generate(path, to, gen.Options{Train: true, Loss: "mse"}) }},
	}
	times := make([][]time.Duration, len(contenders))
	for range *rounds {
		for i, c := range contenders {
			err := errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o777), exec.Command("sync").Run())
			if err != nil {
				return err
			}
			start := time.Now()
			if err := c.run(); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	cp := slices.Min(times[0])
	for i, c := range contenders {
		took := slices.Min(times[i])
		fmt.Printf("%-28s %8.1f ms   %.2f × cp\n", c.name, took.Seconds()*1e3, took.Seconds()/cp.Seconds())
	}
	return nil
}

func generate(path, to string, options gen.Options) error {
	src, err := source()
	if err != nil {
		return err
	}
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	options.Foreign = &gen.Foreign{File: filepath.Base(path), Weights: w, InPlace: true}
	options.WeightsOutside, options.Package = true, "large"
	m, err := gen.CompileSource(src, options)
	if err != nil {
		return err
	}
	files, err := m.Files()
	if err != nil {
		return err
	}
	out, err := gen.NewOutput(filepath.Join(to, "package"), files)
	if err != nil {
		return err
	}
	return out.Write()
}

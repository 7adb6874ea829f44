// Custom counts heartbeats. One operator of its model is a Go function in this folder.
//
//	go run ./examples/custom [-rate BEATS]
//
// It draws an electrocardiogram with the given beats per minute, and runs the model on it. It prints the beats that
// the model finds.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"

	"github.com/burngen/burngen/examples/custom/model"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ./internal/build
//go:generate go run ../../cmd/burngen beats.onnx -o ./model -custom "heart.Peaks=github.com/burngen/burngen/examples/custom/peaks.Find: (f32[S]) -> (i64[P], f32[P])"

func main() {
	log.SetFlags(0)
	log.SetPrefix("custom: ")
	rate := flag.Float64("rate", 72, "draws a heart of so many `BEATS` a minute, 30 to 200")
	flag.Parse()
	if !(*rate >= 30 && *rate <= 200) {
		log.Fatalf("-rate %g: 30 to 200 expected", *rate)
	}
	signal := draw(*rate, 10)
	seconds, err := beats(signal)
	if err != nil {
		log.Fatal(err)
	}
	show(os.Stdout, signal, seconds)
}

// samples is the sampling rate of a signal in Hz.
const samples = 250

// draw returns an electrocardiogram in mV, `seconds` long, with `rate` beats per minute. A beat is
// five waves on a baseline that moves with the breath.
func draw(rate float64, seconds int) []float32 {
	waves := []struct{ height, at, width float64 }{ // the waves P, Q, R, S and T; at and width in seconds
		{0.12, -0.20, 0.025}, {-0.15, -0.035, 0.010}, {1.2, 0, 0.011}, {-0.25, 0.035, 0.010}, {0.3, 0.24, 0.045},
	}
	signal := make([]float32, seconds*samples)
	for i := range signal {
		t := float64(i) / samples
		v := 0.15 * math.Sin(2*math.Pi*t/4)
		for beat := 0.4; beat < float64(seconds); beat += 60 / rate {
			for _, w := range waves {
				d := (t - beat - w.at) / w.width
				v += w.height * math.Exp(-d*d/2)
			}
		}
		signal[i] = float32(v)
	}
	return signal
}

func beats(signal []float32) ([]float32, error) {
	m, err := model.Load()
	if err != nil {
		return nil, err
	}
	found, err := m.Forward(rt.Tensor[float32]{Data: signal, Shape: []int{len(signal)}})
	return found.Seconds.Data, err
}

// show prints a signal with one second per line, and a heart at each time that `seconds` lists.
func show(w io.Writer, signal, seconds []float32) {
	const columns = 50
	const step = samples / columns
	levels := []rune("▁▂▃▄▅▆▇█")
	for second := 0; second*samples < len(signal); second++ {
		row := make([]rune, columns)
		for i := range row {
			from := second*samples + i*step
			high := slices.Max(signal[from : from+step])
			row[i] = levels[min(max(int(high*6+1), 0), len(levels)-1)]
		}
		for _, s := range seconds {
			if int(s) == second {
				row[int(float64(s-float32(second))*columns)] = '♥'
			}
		}
		fmt.Fprintf(w, "%2d s  %s\n", second, string(row))
	}
	fmt.Fprintf(w, "%d beats", len(seconds))
	if n := len(seconds); n > 1 {
		fmt.Fprintf(w, ", %.0f a minute", 60*float64(n-1)/float64(seconds[n-1]-seconds[0]))
	}
	fmt.Fprintln(w)
}

package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestBeats counts the beats of hearts of known rates.
func TestBeats(t *testing.T) {
	for _, rate := range []float64{45, 60, 72, 120, 180} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			seconds, err := beats(draw(rate, 10))
			if err != nil {
				t.Fatal(err)
			}
			var want []float64
			for at := 0.4; at < 9.9; at += 60 / rate {
				want = append(want, at)
			}
			if len(seconds) < len(want) || len(seconds) > len(want)+1 {
				t.Fatalf("%d beats at %v, %d expected", len(seconds), seconds, len(want))
			}
			for i, at := range want {
				if math.Abs(float64(seconds[i])-at) > 0.1 {
					t.Errorf("beat %d is at %v, %.2f expected", i, seconds[i], at)
				}
			}
		})
	}
	if seconds, err := beats(make([]float32, 100)); err != nil || len(seconds) > 0 {
		t.Errorf("silence has beats at %v: %v", seconds, err)
	}
}

func TestShow(t *testing.T) {
	signal := draw(60, 2)
	seconds, err := beats(signal)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	show(&out, signal, seconds)
	if !strings.HasSuffix(out.String(), "2 beats, 60 a minute\n") || strings.Count(out.String(), "♥") != 2 {
		t.Errorf("it shows\n%s", &out)
	}
}

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `{"cpu": "Test CPU", "cpus": 2, "onnxruntime": "1.0", "host": "C", "node": "v20", "go": "go1.26", "cases": [
 {"model": "resnet50", "threads": 1, "ort_ms": 80, "burngen_ms": 50, "ratio": 1.6, "ort_min_ms": 78, "burngen_min_ms": 49, "ratio_min": 1.59, "spread": 1.01, "rms": 1e-6,
  "ort_mb": 300, "burngen_mb": 120, "start_ms": {"c": 400, "node": 500, "burngen": 80}, "accuracy": {"ort": 2e-7, "burngen": 5e-7, "strict": 1e-7, "draws": 1}},
 {"model": "vgg19", "threads": 1, "ort_ms": 300, "burngen_ms": 200, "ratio": 1.5, "ort_min_ms": 300, "burngen_min_ms": 200, "ratio_min": 1.5, "spread": 1.01, "rms": 1e-6, "accuracy": {"ort": 2e-7, "burngen": 2e-7, "strict": 4e-7, "draws": 50}},
 {"model": "bert", "threads": 1, "symbols": {"N": 8, "S": 4}, "ort_ms": 0.00512, "burngen_ms": 0.00256, "ratio": 2, "ort_min_ms": 0.005, "burngen_min_ms": 0.0025, "ratio_min": 2, "static_ms": 0.0025, "static_min_ms": 0.0024, "spread": 1.1, "rms": 0},
 {"model": "slow", "threads": 1, "symbols": {"N": 8}, "ort_ms": 9, "burngen_ms": 10, "ratio": 0.9, "ort_min_ms": 9, "burngen_min_ms": 10, "ratio_min": 0.9, "static_ms": 8, "static_min_ms": 8, "rms": 0},
 {"model": "odd", "problem": "it is | odd", "threads": 1, "rms": 0},
 {"model": "new", "problem": "it cannot be generated", "rms": 0},
 {"model": "resnet50", "threads": 2, "ort_ms": 40, "burngen_ms": 39.8, "ratio": 1.005, "ort_min_ms": 40, "burngen_min_ms": 40, "ratio_min": 1, "spread": 1.01, "rms": 1e-6}]}`

// written returns a folder with the sample as results.json, and with notes.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "results.json"), sample)
	put(t, filepath.Join(dir, "notes.json"), `{"resnet50": "because"}`)
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPageTellsWhatWasMeasured(t *testing.T) {
	dir := written(t)
	if err := run(dir, nil); err != nil {
		t.Fatal(err)
	}
	text := string(get(t, filepath.Join(dir, "RESULTS.md")))
	for _, want := range []string{
		"Test CPU, 2 processors. ONNX Runtime 1.0 through its C API",
		"| resnet50 | 78.00 | 80.00 | 49.00 | 50.00 | 1.59 | 1.60 | 1.22 | 1.01 |",
		"| vgg19 | 300.0 | 300.0 | 200.0 | 200.0 | 1.50 | **1.50** | 2.10 | 1.01 |",
		"| bert (N=8 S=4) | 1 | 0.005120 | 0.002560 | 2.00 | 0.98 | 0.002500 | 0.96 |",
		"| slow (N=8) | 1 | 9.000 | 10.00 | **0.90** | 0.98 | 8.000 | **0.80** |",
		"- slow (N=8), 0.90 of 0.98: not explained",
		"No results of new: it cannot be generated",
		`| odd | no result: it is \| odd |`,
		"Geometric mean of 2 ratios of medians: 1.55.",
		"- vgg19, 1.50 of 2.10: not explained",
		"## 2 threads",
		"- resnet50, 1.00 of 1.02: because",
		"| resnet50 | 1 | 300 | 120 | 400.0 | 500.0 | 80.0 | 5.0× | 6.2× |",
		"| resnet50 | 1.0e-06 | 2.0e-07 | 5.0e-07 | 1.0e-07 | 2.50 | 0.50 | 1 |",
		"| vgg19 | 1.0e-06 | 2.0e-07 | 2.0e-07 | 4.0e-07 | 1.00 | **2.00** | 50 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPictureIsTheSameEachTimeAndWhole(t *testing.T) {
	dir := written(t)
	var images [2][]byte
	for i := range images {
		if err := run(dir, nil); err != nil {
			t.Fatal(err)
		}
		images[i] = get(t, filepath.Join(dir, "ratios.svg"))
	}
	if !bytes.Equal(images[0], images[1]) {
		t.Error("two runs draw other pictures")
	}
	for d := xml.NewDecoder(bytes.NewReader(images[0])); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"resnet50", "vgg19", "1 thread", "2 threads"} {
		if !bytes.Contains(images[0], []byte(want)) {
			t.Errorf("no %q in the picture", want)
		}
	}
	for _, other := range []string{"odd", "bert"} {
		if bytes.Contains(images[0], []byte(other)) {
			t.Errorf("%s is in the picture", other)
		}
	}
}

func TestLaterFilesReplaceCases(t *testing.T) {
	dir := written(t)
	later := filepath.Join(t.TempDir(), "later.json")
	head, _, _ := strings.Cut(sample, `"cases"`)
	put(t, later, head+`"cases": [{"model": "vgg19", "threads": 1, "ort_ms": 300, "burngen_ms": 100, "ratio": 3, "ort_min_ms": 1, "burngen_min_ms": 1, "ratio_min": 3}, {"model": "new", "threads": 1, "ratio": 5, "ort_ms": 1, "burngen_ms": 1, "ort_min_ms": 1, "burngen_min_ms": 1}]}`)
	all, err := read([]string{filepath.Join(dir, "results.json"), later})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) != 7 || all.Cases[1].Ratio != 3 || all.Cases[6].Model != "new" {
		t.Errorf("got %+v", all.Cases)
	}
	put(t, later, head+`"cases": [{"model": "vgg19", "threads": 1, "rms": 2, "accuracy": {"ort": 7}}]}`)
	if all, err = read([]string{filepath.Join(dir, "results.json"), later}); err != nil {
		t.Fatal(err)
	}
	if v := all.Cases[1]; v.Ratio != 1.5 || v.RMS != 2 || v.Accuracy.ORT != 7 {
		t.Errorf("compared again, vgg19 is %+v", v)
	}
	put(t, later, strings.Replace(sample, "Test CPU", "Other CPU", 1))
	if _, err := read([]string{filepath.Join(dir, "results.json"), later}); err == nil {
		t.Error("no error for results of another machine")
	}
}

func TestTargetsAreOfModelsThatExist(t *testing.T) {
	source := string(get(t, filepath.Join("..", "models", "main.go")))
	for name, want := range targets {
		if !strings.Contains(source, `"`+name+`"`) {
			t.Errorf("no model %s", name)
		}
		if want.one < others.one || want.two < others.two {
			t.Errorf("%s: %v is below the target of all", name, want)
		}
	}
}

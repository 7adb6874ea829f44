package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// results is the output of compare.mjs --json. Times are in milliseconds, sizes in MiB.
type results struct {
	CPU         string   `json:"cpu"`
	CPUs        int      `json:"cpus"`
	ONNXRuntime string   `json:"onnxruntime"`
	Host        string   `json:"host"` // "C" or "node": the API through which ONNX Runtime was called
	Node        string   `json:"node"`
	Go          string   `json:"go"`
	Cases       []result `json:"cases"`
}

// result is one case with one number of threads.
type result struct {
	Model   string           `json:"model"`
	Threads int              `json:"threads"`
	Symbols map[string]int64 `json:"symbols,omitempty"`
	Fixed   bool             `json:"fixed,omitempty"`
	// Problem says why there are no times.
	Problem    string    `json:"problem,omitempty"`
	ORT        float64   `json:"ort_ms,omitempty"` // median time; Burngen and Ratio are of medians, too
	Burngen    float64   `json:"burngen_ms,omitempty"`
	Ratio      float64   `json:"ratio,omitempty"`
	ORTMin     float64   `json:"ort_min_ms,omitempty"`
	BurngenMin float64   `json:"burngen_min_ms,omitempty"`
	RatioMin   float64   `json:"ratio_min,omitempty"`
	Node       float64   `json:"node_ms,omitempty"` // time through the Node binding
	NodeMin    float64   `json:"node_min_ms,omitempty"`
	Static     float64   `json:"static_ms,omitempty"` // time of burngen with extents that are compiled in
	StaticMin  float64   `json:"static_min_ms,omitempty"`
	Spread     float64   `json:"spread,omitempty"`
	RMS        float64   `json:"rms"`
	Accuracy   *accuracy `json:"accuracy,omitempty"`
	Note       string    `json:"note,omitempty"`
	Load       float64   `json:"load,omitempty"`
	ORTMB      int       `json:"ort_mb,omitempty"`
	BurngenMB  int       `json:"burngen_mb,omitempty"`
	Start      *start    `json:"start_ms,omitempty"`
}

// accuracy holds the errors of ONNX Runtime, of burngen and of burngen in strict mode. Draws is the number of random
// draws of the arguments. An error is the root mean square of the difference from the outputs in float64, divided by
// the root mean square of these outputs.
type accuracy struct {
	ORT     float64 `json:"ort"`
	Burngen float64 `json:"burngen"`
	Strict  float64 `json:"strict,omitempty"`
	Draws   int     `json:"draws,omitempty"`
}

// start holds the times from the start of a process to its first result, in milliseconds.
type start struct {
	C       float64 `json:"c,omitempty"`
	Node    float64 `json:"node,omitempty"`
	Burngen float64 `json:"burngen"`
}

// settings describes how a case was run, except the number of threads.
func (r result) settings() string {
	var list []string
	for _, s := range slices.Sorted(maps.Keys(r.Symbols)) {
		list = append(list, fmt.Sprintf("%s=%d", s, r.Symbols[s]))
	}
	if r.Fixed {
		list = append(list, "fixed")
	}
	return strings.Join(list, " ")
}

// timed reports whether a case has times. A case without times was only compared, or failed.
func (r result) timed() bool { return r.ORT > 0 }

func (r result) label() string {
	if s := r.settings(); s != "" {
		return r.Model + " (" + s + ")"
	}
	return r.Model
}

// read returns the merged results of files. A later result replaces an earlier one of the same case. If the later one
// was only compared, and not timed, it replaces only the differences and the note. It returns an error if a file cannot
// be read, or if the files are of different machines or versions.
func read(files []string) (*results, error) {
	var all *results
	for _, file := range files {
		one := new(results)
		if err := decode(file, one); err != nil {
			return nil, err
		}
		if all == nil {
			all = &results{CPU: one.CPU, CPUs: one.CPUs, ONNXRuntime: one.ONNXRuntime, Host: one.Host, Node: one.Node, Go: one.Go}
		}
		if one.CPU != all.CPU || one.CPUs != all.CPUs || one.ONNXRuntime != all.ONNXRuntime || one.Host != all.Host || one.Go != all.Go {
			return nil, fmt.Errorf("%s: results of another machine, or of other versions, than %s", file, files[0])
		}
		for _, r := range one.Cases {
			// A case that failed before its first measurement replaces all cases of its
			// model.
			all.Cases = slices.DeleteFunc(all.Cases, func(s result) bool { return s.Threads == 0 && s.Model == r.Model })
			i := slices.IndexFunc(all.Cases, func(s result) bool { return s.label() == r.label() && s.Threads == r.Threads })
			switch {
			case i < 0:
				all.Cases = append(all.Cases, r)
			case !r.timed() && r.Problem == "":
				all.Cases[i].RMS, all.Cases[i].Accuracy, all.Cases[i].Note = r.RMS, r.Accuracy, r.Note
			default:
				all.Cases[i] = r
			}
		}
	}
	return all, nil
}

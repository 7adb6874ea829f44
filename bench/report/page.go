package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

func page(all *results, notes map[string]string) []byte {
	var b bytes.Buffer
	through := "its C API"
	if all.Host != "C" {
		through = "its Node binding"
	}
	fmt.Fprintf(&b, `# Results

%s, %d processors. ONNX Runtime %s through %s, %s; float32 unless the model says
otherwise; both sides in turns, pinned to as many processors as they have threads.
[README.md](README.md) says how it is measured and how to measure it
again; this page is written by `+"`go run ./report`"+`.

A ratio is ONNX Runtime's time over burngen's: above 1, burngen is faster.

![ratios](ratios.svg)
`, all.CPU, all.CPUs, all.ONNXRuntime, through, all.Go)
	plain, sized := divide(all.Cases)
	for _, t := range threads(plain) {
		speed(&b, t, plain, notes)
	}
	openExtents(&b, sized, notes)
	unmeasured(&b, all.Cases)
	resources(&b, plain)
	distances(&b, plain)
	return b.Bytes()
}

func divide(cases []result) (plain, sized []result) {
	for _, r := range cases {
		if r.Symbols == nil {
			plain = append(plain, r)
		} else {
			sized = append(sized, r)
		}
	}
	return plain, sized
}

func threads(cases []result) []int {
	var list []int
	for _, r := range cases {
		if !slices.Contains(list, r.Threads) && r.Threads > 0 {
			list = append(list, r.Threads)
		}
	}
	slices.Sort(list)
	return list
}

// speed writes the times of the cases with t threads.
func speed(b *bytes.Buffer, t int, cases []result, notes map[string]string) {
	fmt.Fprintf(b, "\n## %s\n\n", count(t, "thread"))
	fmt.Fprintln(b, "Milliseconds; minima and medians of all calls. Spread is the spread of the rounds' minima.")
	table(b, "model", "ORT min", "median", "burngen min", "median", "ratio of minima", "of medians", "target", "spread")
	var low []string
	log, n := 0.0, 0
	for _, r := range cases {
		if r.Threads != t || r.Problem == "" && !r.timed() {
			continue
		}
		if r.Problem != "" {
			cells(b, r.label(), "no result: "+r.Problem, "", "", "", "", "", "", "")
			continue
		}
		ratio := fmt.Sprintf("%.2f", r.Ratio)
		if r.Ratio < r.target() {
			low = append(low, below(r, notes))
			ratio = "**" + ratio + "**"
		}
		cells(b, r.label(), ms(r.ORTMin), ms(r.ORT), ms(r.BurngenMin), ms(r.Burngen), fmt.Sprintf("%.2f", r.RatioMin), ratio, fmt.Sprintf("%.2f", r.target()), fmt.Sprintf("%.2f", r.Spread))
		log += math.Log(r.Ratio)
		n++
	}
	if n > 0 {
		fmt.Fprintf(b, "\nGeometric mean of %d ratios of medians: %.2f.\n", n, math.Exp(log/float64(n)))
	}
	list(b, low)
}

func below(r result, notes map[string]string) string {
	why := notes[r.Model]
	if why == "" {
		why = "not explained"
	}
	return fmt.Sprintf("- %s, %.2f of %.2f: %s", r.label(), r.Ratio, r.target(), why)
}

func list(b *bytes.Buffer, low []string) {
	if low != nil {
		fmt.Fprintf(b, "\nBelow their targets:\n\n%s\n", strings.Join(low, "\n"))
	}
}

// unmeasured writes the problems of cases that failed before the first measurement.
func unmeasured(b *bytes.Buffer, cases []result) {
	for _, r := range cases {
		if r.Threads == 0 {
			fmt.Fprintf(b, "\nNo results of %s: %s\n", r.label(), r.Problem)
		}
	}
}

// keeps is the smallest accepted ratio of two times of a model: the shortest time with constant extents, divided by
// the shortest time with symbolic extents. The page has a smaller ratio in bold.
const keeps = 0.9

func openExtents(b *bytes.Buffer, cases []result, notes map[string]string) {
	if cases == nil {
		return
	}
	fmt.Fprintf(b, "\n## Open extents\n\nMedians in milliseconds of models that leave extents open. Kept is the share of the speed that\nthe same model has where the extents are compiled in, of the minima; %.2f is wanted.\n", keeps)
	table(b, "model", "threads", "ORT", "burngen", "ratio", "target", "compiled in", "kept")
	var low []string
	for _, r := range cases {
		if r.Problem != "" {
			cells(b, r.label(), fmt.Sprint(r.Threads), "no result: "+r.Problem, "", "", "", "", "")
		}
		if !r.timed() {
			continue
		}
		ratio, static, kept := fmt.Sprintf("%.2f", r.Ratio), "", ""
		if r.Ratio < r.target() {
			low = append(low, below(r, notes))
			ratio = "**" + ratio + "**"
		}
		if r.Static > 0 {
			share := r.StaticMin / r.BurngenMin
			static, kept = ms(r.Static), fmt.Sprintf("%.2f", share)
			if share < keeps {
				kept = "**" + kept + "**"
			}
		}
		cells(b, r.label(), fmt.Sprint(r.Threads), ms(r.ORT), ms(r.Burngen), ratio, fmt.Sprintf("%.2f", r.target()), static, kept)
	}
	list(b, low)
}

func resources(b *bytes.Buffer, cases []result) {
	fmt.Fprint(b, "\n## Memory and cold start\n\nPeak resident memory in MiB of a process that runs the model; milliseconds from the start\nof a process to its first result, burngen's being a static binary with its weights in it.\n")
	table(b, "model", "threads", "ORT MiB", "burngen MiB", "C host start", "Node start", "burngen start", "sooner than C host", "than Node")
	for _, r := range cases {
		if r.ORTMB == 0 && r.Start == nil {
			continue
		}
		c, node, own, sooner, thanNode := "", "", "", "", ""
		if s := r.Start; s != nil {
			c, node, own = sinceStart(s.C), sinceStart(s.Node), sinceStart(s.Burngen)
			if s.C > 0 {
				sooner = fmt.Sprintf("%.1f×", s.C/s.Burngen)
			}
			if s.Node > 0 {
				thanNode = fmt.Sprintf("%.1f×", s.Node/s.Burngen)
			}
		}
		cells(b, r.label(), fmt.Sprint(r.Threads), fmt.Sprint(r.ORTMB), fmt.Sprint(r.BurngenMB), c, node, own, sooner, thanNode)
	}
}

func sinceStart(ms float64) string {
	if ms == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", ms)
}

// strictShare is the largest accepted ratio of burngen's error in strict mode to ONNX Runtime's error. The page has a
// larger ratio in bold.
const strictShare = 1.5

// distances writes the root mean square differences between burngen, ONNX Runtime and an evaluation in float64.
func distances(b *bytes.Buffer, cases []result) {
	fmt.Fprintf(b, `
## Accuracy

Root mean square of differences as a share of the values: between the two sides, and of each
from the same model in float64, with -strict too. Outputs of few values are those of several
draws of the arguments. With -strict %.1f times ONNX Runtime's at most is wanted.
`, strictShare)
	table(b, "model", "between", "ORT", "burngen", "-strict", "burngen/ORT", "-strict/ORT", "draws", "")
	seen := map[string]bool{} // cases at another number of threads
	for _, r := range cases {
		if r.Problem != "" || seen[r.label()] {
			continue
		}
		seen[r.label()] = true
		row := []string{r.label(), fmt.Sprintf("%.1e", r.RMS), "", "", "", "", "", "", r.Note}
		if a := r.Accuracy; a != nil {
			copy(row[2:], []string{
				fmt.Sprintf("%.1e", a.ORT), fmt.Sprintf("%.1e", a.Burngen), fmt.Sprintf("%.1e", a.Strict),
				share(a.Burngen, a.ORT), share(a.Strict, a.ORT), fmt.Sprint(a.Draws),
			})
			if a.Strict > strictShare*a.ORT {
				row[6] = "**" + row[6] + "**"
			}
		}
		cells(b, row...)
	}
}

// share returns a/b with two decimals, or "" if b is 0.
func share(a, b float64) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", a/b)
}

func table(b *bytes.Buffer, heads ...string) {
	b.WriteByte('\n')
	cells(b, heads...)
	b.WriteString("|---|" + strings.Repeat("--:|", len(heads)-1) + "\n")
}

func cells(b *bytes.Buffer, list ...string) {
	for _, c := range list {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

// ms formats a positive time in milliseconds with four significant digits. Times from 1000 ms on are rounded to
// integers.
func ms(v float64) string {
	digits := 3 - int(math.Floor(math.Log10(v)))
	return fmt.Sprintf("%.*f", min(max(digits, 0), 9), v)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package main

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/learn/report"
)

var compareCommand = command{
	name:  "compare",
	usage: "RUN RUN [flags]",
	short: "compare the metrics of two runs of training; the exit code is 1 if a given one got worse",
	examples: `  burngen compare runs/before runs/after
  burngen compare runs/before runs/after -worse 'valid accuracy' -by 0.5
`,
	define: defineCompare,
}

func defineCompare(flags *flagSet) func(*streams, []string) error {
	var worse list
	flags.Var(&worse, "worse", "fail if `METRIC`, such as 'valid accuracy', is worse in the second run; may be given several times")
	by := flags.Float64("by", 0, "with -worse: fail only if it is worse by more than `N`, in the unit of the metric")
	return func(s *streams, folders []string) error {
		switch {
		case len(folders) != 2:
			return usagef("two folders of runs expected, got %d", len(folders))
		case !(*by >= 0):
			return usagef("-by %v: a number of at least 0 expected", *by)
		case *by > 0 && len(worse) == 0:
			return usagef("-by needs -worse")
		}
		runs, err := readRuns(folders)
		if err != nil {
			return err
		}
		rows := report.Compare(runs[0], runs[1])
		fmt.Fprint(s.out, report.Table(runs[0].Name, runs[1].Name, rows))
		failed := false
		for _, key := range worse {
			if text := worseBy(rows, key, *by); text != "" {
				fmt.Fprintln(s.err, text)
				failed = true
			}
		}
		if failed {
			return errReported
		}
		return nil
	}
}

// worseBy returns a message if the metric called `key` is worse in the second run by more than `limit`, or if it
// cannot be compared. Otherwise it returns "". limit is in the unit of the metric.
func worseBy(rows []report.Row, key string, limit float64) string {
	for _, r := range rows {
		if r.Key != key {
			continue
		}
		switch w := r.Worse(); {
		case math.IsNaN(w):
			return fmt.Sprintf("%s: the runs cannot be compared: a value is missing, or neither larger nor smaller values are better", key)
		case w > limit:
			return fmt.Sprintf("%s is worse by %.4g", key, w)
		}
		return ""
	}
	return fmt.Sprintf("%s: no such metric in these runs", key)
}

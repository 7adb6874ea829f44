package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/runtime/learn/report"
)

var reportCommand = command{
	name:  "report",
	usage: "RUN... [flags]",
	short: "write a page about runs of training: curves, results, settings, times, pictures, the end of the log",
	examples: `  burngen report runs/mnist                      writes runs/mnist/report.html
  burngen report runs/* -o all.html              compares several runs on one page
`,
	define: defineReport,
}

func defineReport(flags *flagSet) func(*streams, []string) error {
	out := flags.String("o", "", "write the page to `FILE`; without it, to report.html in the folder of the run, or here if there are several runs")
	return func(s *streams, folders []string) error {
		if len(folders) == 0 {
			return usagef("no folder of a run given")
		}
		runs, err := readRuns(folders)
		if err != nil {
			return err
		}
		file := *out
		switch {
		case file == "" && len(folders) == 1:
			file = filepath.Join(folders[0], "report.html")
		case file == "":
			file = "report.html"
		}
		page, err := report.HTML(runs...)
		if err != nil {
			return err
		}
		return temporary.Write(file, func(f *os.File) error { _, err := f.Write(page); return err })
	}
}

// readRuns reads the folders of runs. It joins the errors of all folders.
func readRuns(folders []string) ([]*report.Run, error) {
	var runs []*report.Run
	var errs []error
	for _, folder := range folders {
		r, err := report.Read(folder)
		if err != nil {
			errs = append(errs, err)
		}
		runs = append(runs, r)
	}
	return runs, errors.Join(errs...)
}

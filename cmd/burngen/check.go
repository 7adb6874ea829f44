package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/onnx"
)

var checkCommand = command{
	name:  "check",
	usage: "MODEL… [flags]",
	short: "lists everything in models that cannot be compiled",
	examples: `  burngen check exotic.onnx
  burngen check models/*.onnx
`,
	define: defineCheck,
}

func defineCheck(flags *flag.FlagSet) func(*streams, []string) error {
	o := modelFlags(flags)
	return func(s *streams, files []string) error {
		if len(files) == 0 {
			return usagef("a model file is missing")
		}
		failed := false
		for _, file := range files {
			m, err := gen.Load(file, *o)
			if err != nil {
				failed = true
				fmt.Fprintln(s.out, err)
				fmt.Fprint(s.out, badNodes(file, err))
				continue
			}
			fmt.Fprintf(s.out, "%s: all %d nodes can be compiled\n", filepath.Base(file), m.Source.Nodes)
		}
		if failed {
			return errReported
		}
		return nil
	}
}

// badNodes says how many nodes the lines of an error are about, "" for none.
func badNodes(file string, err error) string {
	bad := map[string]bool{}
	for line := range strings.Lines(err.Error()) {
		if _, rest, ok := strings.Cut(line, ": node "); ok {
			index, _, _ := strings.Cut(rest, " ")
			bad[index] = true
		}
	}
	n, countErr := onnx.CountNodes(file)
	if countErr != nil || len(bad) == 0 {
		return ""
	}
	atLeast := ""
	if strings.HasSuffix(err.Error(), " more problems") {
		atLeast = "at least "
	}
	return fmt.Sprintf("%s%d of %d nodes cannot be compiled\n", atLeast, min(len(bad), n), n)
}

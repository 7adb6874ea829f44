package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/support"
	"github.com/burngen/burngen/onnx"
)

var checkCommand = command{
	name:  "check",
	usage: "MODEL… [flags]",
	short: "list every node that cannot be compiled, and the operators of each model",
	examples: `  burngen check exotic.onnx
  burngen check models/*.onnx
  burngen check detector.onnx -target cuda    which nodes does the host compute?
`,
	define: defineCheck,
}

func defineCheck(flags *flagSet) func(*streams, []string) error {
	o := modelFlags(flags)
	on := compileTarget(flags)
	return func(s *streams, files []string) error {
		if len(files) == 0 {
			return usagef("name one or more models: ONNX files, or folders of descriptions in Go")
		}
		if err := on.check(); err != nil {
			return err
		}
		failed := false
		for _, file := range files {
			models, err := loadFor(on, flags, file, o, s)
			var m *gen.Model
			if err != nil {
				failed = true
				fmt.Fprintln(s.out, err)
				fmt.Fprint(s.out, badNodes(file, err))
			} else {
				m = models[0]
				fmt.Fprintf(s.out, "%s: all %d nodes can be compiled\n", filepath.Base(file), m.Source.Nodes)
			}
			for _, m := range models {
				fmt.Fprint(s.out, m.DeviceReport())
			}
			if err := printOperators(s.out, file, m); err != nil {
				return err
			}
		}
		if failed {
			return errReported
		}
		return nil
	}
}

// badNodes returns a sentence with two numbers: how many nodes the lines of err name, and how many nodes the file
// has. It returns "" if err names no node or the file cannot be read.
func badNodes(file string, err error) string {
	bad := map[string]bool{}
	for line := range strings.Lines(err.Error()) {
		if _, rest, ok := strings.Cut(line, ": node "); ok {
			index, _, _ := strings.Cut(rest, " ")
			bad[index] = true
		}
	}
	nodes, unreadable := onnx.Nodes(file)
	if unreadable != nil || len(bad) == 0 {
		return ""
	}
	atLeast := ""
	if strings.HasSuffix(err.Error(), " more problems") {
		atLeast = "at least "
	}
	return fmt.Sprintf("%s%d of %d nodes cannot be compiled\n", atLeast, min(len(bad), len(nodes)), len(nodes))
}

// printOperators prints a line for each operator of a file, with the version of its definition and the number of its
// nodes. If m, the compiled model, is not nil, the line also has the element types and what computes the operator,
// such as a kernel. If the file cannot be read, it prints nothing and returns nil, because the caller has already
// printed the error.
func printOperators(out io.Writer, file string, m *gen.Model) error {
	nodes, err := onnx.Nodes(file)
	if err != nil {
		return nil // already reported
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, u := range support.Uses(nodes, m) {
		name, facts := fmt.Sprintf("%s-%d", u.Operator, u.Version), ""
		if u.Version == 0 {
			name = u.Operator
		}
		switch {
		case u.CPU != support.None:
			facts = string(u.CPU)
			if m != nil && m.OnGPU() && u.CPU != support.GPU {
				facts += ", on the host"
			}
		case u.Version == 0:
			facts = "unknown operator"
		case m != nil:
			facts = "compiled away"
		}
		var types []string
		for _, d := range u.Types {
			types = append(types, d.String())
		}
		line := fmt.Sprintf("  %s\t×%d\t%s\t%s", name, u.Count, strings.Join(types, " "), facts)
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	return w.Flush()
}

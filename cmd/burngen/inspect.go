package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

var inspectCommand = command{
	name:  "inspect",
	usage: "FILE [flags]",
	short: "show what is in a model (.onnx, or a description in Go) or in a weights file (" + weightsNames + ")",
	examples: `  burngen inspect resnet50.onnx
  burngen inspect resnet50.onnx -dim N=8
  burngen inspect resnet50.safetensors
  burngen inspect whisper.pt -top-key model_state_dict -remap 'encoder\.(.*)=>enc.$1'
`,
	define: defineInspect,
}

func defineInspect(flags *flagSet) func(*streams, []string) error {
	o := modelFlags(flags)
	on := compileTarget(flags)
	var names *keys.Options
	flags.section(ofTensors, func() { names = nameFlags(flags) })
	return func(s *streams, files []string) error {
		file, err := oneModel(files)
		if err != nil {
			return err
		}
		if isWeights(file) {
			return inspectWeights(s.out, file, names)
		}
		if len(flags.given(ofTensors)) > 0 {
			return usagef("%s applies to weights files, and %s is not one", flags.given(ofTensors)[0], filepath.Base(file))
		}
		if err := on.check(); err != nil {
			return err
		}
		models, err := loadFor(on, flags, file, o, s)
		if err != nil {
			return err
		}
		return inspectModel(s.out, models)
	}
}

func inspectModel(out io.Writer, models []*gen.Model) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range models {
		fmt.Fprint(w, m.Report())
	}
	m := models[0]
	for _, list := range []struct {
		title string
		ports []rt.Port
	}{{"inputs", m.Meta.Inputs}, {"outputs", m.Meta.Outputs}, {"states, which a session keeps from one call to the next", m.Meta.States}} {
		if list.ports == nil {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", list.title)
		for _, p := range list.ports {
			fmt.Fprintf(w, "  %q\t%s[%s]\n", p.Name, p.DType, strings.Join(p.Shape, ","))
		}
	}
	fmt.Fprintf(w, "\noperators:\n  %s\n", wrap(m.OperatorCounts(), 90))
	if weights := m.Source.Module.Weights; len(weights) > 0 {
		fmt.Fprint(w, "\nweights:\n")
		for _, t := range weights {
			fmt.Fprintf(w, "  %q\t%s\t%s\n", t.Name, t.Type, gen.Bytes(int64(len(t.Data))))
		}
	}
	if params := gen.Parameters(m.Source.Func()); len(params) > 0 {
		for i, name := range params {
			params[i] = fmt.Sprintf("%q", name)
		}
		fmt.Fprintf(w, "\nparameters, which -train trains:\n  %s\n", wrap(params, 90))
	}
	return w.Flush()
}

// wrap joins words with commas and breaks lines at about width bytes.
func wrap(words []string, width int) string {
	var b strings.Builder
	column := 0
	for i, s := range words {
		if i > 0 {
			b.WriteString(", ")
			column += 2
		}
		if column > 0 && column+len(s) > width {
			b.WriteString("\n  ")
			column = 0
		}
		b.WriteString(s)
		column += len(s)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

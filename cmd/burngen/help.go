package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/burngen/burngen/internal/meant"
)

const (
	// versionName is the command that prints the version.
	versionName  = "version"
	versionShort = "print the version of burngen, of Go, and the platform"
)

// help prints the help of the command args[0], or a list of the commands if args is empty. It
// returns the exit code.
func help(args []string, s *streams) int {
	if len(args) == 0 {
		overview(s.out)
		return exitOK
	}
	if args[0] == versionName {
		fmt.Fprintf(s.out, "usage: burngen %s\n\n%s\n", versionName, versionShort)
		return exitOK
	}
	c, ok := commandOf(args[0])
	if !ok {
		fmt.Fprintf(s.err, "burngen help: unknown command %q%s\n", args[0], meant.Suffix(args[0], append(commandNames(), versionName), "%s"))
		return exitUsage
	}
	flags, _ := newFlags(c)
	c.help(s.out, flags)
	return exitOK
}

func overview(w io.Writer) {
	fmt.Fprint(w, "burngen compiles neural networks to Go packages.\n\nusage:\n")
	for i, c := range commands {
		name := "burngen " + c.name
		if i == 0 {
			name = "burngen [" + c.name + "]"
		}
		fmt.Fprintf(w, "  %s %s\n      %s\n", name, c.usage, c.short)
	}
	fmt.Fprintf(w, "  burngen %s\n      %s\n", versionName, versionShort)
	fmt.Fprint(w, `
Run burngen help COMMAND for the flags of a command. Flags may come before or after files.

exit codes:
  0  success
  1  a problem with a file or a model, or a difference found by gen -check or verify
  2  a mistake in the command line
`)
}

// version prints the version of the program's main module, of Go and of the platform.
func version(w io.Writer) {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	fmt.Fprintf(w, "burngen %s %s %s/%s\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (c command) help(w io.Writer, flags *flagSet) {
	fmt.Fprintf(w, "usage: burngen %s %s\n\n%s\n", c.name, c.usage, c.short)
	for _, title := range append([]string{""}, flags.titles...) {
		heading := title
		if title == "" {
			heading = "flags"
		}
		flags.VisitAll(func(f *flag.Flag) {
			if flags.in[f.Name] != title {
				return
			}
			if heading != "" {
				fmt.Fprintf(w, "\n%s:\n", heading)
				heading = ""
			}
			arg, text := flag.UnquoteUsage(f)
			if f.Value.(*checked).IsBoolFlag() {
				arg = ""
			}
			fmt.Fprintf(w, "  %s\n        %s\n", strings.TrimSpace("-"+f.Name+" "+arg), strings.ReplaceAll(text+ending(f, text), "\n", "\n        "))
		})
	}
	fmt.Fprintf(w, "\nexamples:\n%s", c.examples)
}

// ending returns the end of a flag's help text: that the flag is repeatable, or its default. It returns "" for a
// bool. It also returns "" if the text already mentions the default or says that the flag is required.
func ending(f *flag.Flag, text string) string {
	v := f.Value.(*checked)
	switch {
	case v.isRepeated():
		return " (repeatable)"
	case v.IsBoolFlag() || strings.Contains(text, "(default") || strings.Contains(text, "(required"):
		return ""
	case f.DefValue == "":
		return " (default none)"
	}
	if g, ok := v.Value.(flag.Getter); ok {
		if d, ok := g.Get().(time.Duration); ok && d%time.Minute == 0 {
			return fmt.Sprintf(" (default %dm)", d/time.Minute)
		}
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

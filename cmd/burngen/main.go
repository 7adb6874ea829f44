// Command burngen compiles neural networks to Go packages. Its commands turn
// flags into calls of package gen and print what comes back.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/burngen/burngen/gen/temporary"
)

// command is one of burngen's commands.
type command struct {
	name string
	// usage is the arguments, short what it does in one line.
	usage, short string
	// examples are command lines with what each is for.
	examples string
	// define declares the flags and returns what runs once they are parsed.
	define func(*flag.FlagSet) func(*streams, []string) error
}

// commands lists the commands; the first is meant when none is named.
var commands = []command{genCommand, checkCommand, inspectCommand, convertCommand, runCommand, benchCommand, calibrateCommand, verifyCommand}

// streams are where a command writes to.
type streams struct{ out, err io.Writer }

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errReported ends a command whose problems have been printed.
var errReported = errors.New("reported")

// Exit codes.
const (
	exitOK      = 0
	exitProblem = 1 // with a model, or a difference
	exitUsage   = 2
)

func main() {
	temporary.EndBySignal()
	os.Exit(run(os.Args[1:], &streams{os.Stdout, os.Stderr}))
}

// run carries out a command line and returns the exit code.
func run(args []string, s *streams) int {
	if len(args) == 0 {
		overview(s.err)
		return exitUsage
	}
	c := commands[0]
	switch name := args[0]; name {
	case "help", "-h", "-help", "--help":
		return help(args[1:], s)
	default:
		for _, other := range commands {
			if other.name == name {
				c, args = other, args[1:]
				break
			}
		}
	}
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	do := c.define(flags)
	files, err := parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		c.help(s.out, flags)
		return exitOK
	}
	if err == nil {
		err = do(s, files)
	}
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "burngen %s: %s\nusage: burngen %s %s (burngen %s -help tells more)\n", c.name, usage.text, c.name, c.usage, c.name)
		return exitUsage
	case !errors.Is(err, errReported):
		fmt.Fprintln(s.err, err)
	}
	return exitProblem
}

// parse reads flags, which may stand before or after the other arguments, up to
// "--". It returns the other arguments.
func parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, usagef("%v", err)
		}
		left := flags.Args()
		if ended := len(args) - len(left) - 1; ended >= 0 && args[ended] == "--" {
			return append(rest, left...), nil
		}
		if len(left) > 0 {
			rest, left = append(rest, left[0]), left[1:]
		}
		args = left
	}
	return rest, nil
}

// help prints what a command does, or all of them.
func help(args []string, s *streams) int {
	if len(args) == 0 {
		overview(s.out)
		return exitOK
	}
	for _, c := range commands {
		if c.name == args[0] {
			flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
			c.define(flags)
			c.help(s.out, flags)
			return exitOK
		}
	}
	fmt.Fprintf(s.err, "burngen help: no command %q\n", args[0])
	return exitUsage
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
	fmt.Fprint(w, "\nburngen help COMMAND tells more. Flags may stand before or after files.\n")
}

// help prints what a command does, its flags and its examples.
func (c command) help(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintf(w, "usage: burngen %s %s\n\n%s\n", c.name, c.usage, c.short)
	first := true
	flags.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprint(w, "\nflags:\n")
			first = false
		}
		arg, text := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  %s\n        %s\n", strings.TrimSpace("-"+f.Name+" "+arg), text)
	})
	fmt.Fprintf(w, "\nexamples:\n%s", c.examples)
}

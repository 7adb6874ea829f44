// Command burngen compiles neural networks to Go packages. Its commands translate flags to calls of
// package gen and print the results.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/internal/meant"
)

type command struct {
	name string
	// usage lists the arguments, and short is a one-line summary.
	usage, short string
	// command lines with explanations
	examples string
	// declares the flags and returns the function to run after they have been parsed
	define func(*flagSet) func(*streams, []string) error
}

// commands lists the commands. The first one is the default.
var commands = []command{genCommand, checkCommand, inspectCommand, convertCommand, runCommand, serveCommand, beamCommand, benchCommand, calibrateCommand, verifyCommand, devicesCommand, watchCommand, reportCommand, compareCommand}

// aliases maps other words for commands to their names.
var aliases = map[string]string{"generate": "gen", "benchmark": "bench", "calibration": "calibrate"}

// commandOf returns the command called name, which may be in [aliases]. It returns false if there
// is none.
func commandOf(name string) (command, bool) {
	if real, ok := aliases[name]; ok {
		name = real
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return commands[i], true
}

func commandNames() (names []string) {
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// unknownCommand suggests a command for a mistyped word. It returns "" if the word is a file or
// looks like a path, or if no command is similar.
func unknownCommand(word string) string {
	if _, err := os.Lstat(word); err == nil || strings.ContainsAny(word, `./\-`) {
		return ""
	}
	return meant.Suffix(word, commandNames(), "burngen %s")
}

type streams struct{ out, err io.Writer }

// usageError is an error in the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errReported is the error of a command that has already printed its problems.
var errReported = errors.New("reported")

const (
	exitOK      = 0
	exitProblem = 1 // a problem with a model, or a difference
	exitUsage   = 2
)

func main() {
	temporary.EndBySignal()
	os.Exit(run(os.Args[1:], &streams{os.Stdout, os.Stderr}))
}

// run executes a command line and returns the exit code.
func run(args []string, s *streams) int {
	if len(args) == 0 {
		overview(s.err)
		return exitUsage
	}
	c := commands[0]
	switch name := args[0]; name {
	case "help", "-h", "-help", "--help":
		return help(args[1:], s)
	case versionName, "-version", "--version":
		version(s.out)
		return exitOK
	default:
		if named, ok := commandOf(name); ok {
			c, args = named, args[1:]
		} else if meant := unknownCommand(name); meant != "" {
			fmt.Fprintf(s.err, "burngen: unknown command %q, and there is no such file%s\n", name, meant)
			return exitUsage
		}
	}
	flags, do := newFlags(c)
	files, err := flags.parse(args)
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
		fmt.Fprintf(s.err, "burngen %s: %s\nusage: burngen %s %s (see burngen %s -help)\n", c.name, usage.text, c.name, c.usage, c.name)
		return exitUsage
	case !errors.Is(err, errReported):
		fmt.Fprintln(s.err, err)
	}
	return exitProblem
}

// Command burngen compiles neural networks to Go packages. Its commands turn
// flags into calls of package gen and print what comes back.
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

// command is one of burngen's commands.
type command struct {
	name string
	// usage is the arguments, short what it does in one line.
	usage, short string
	// examples are command lines with what each is for.
	examples string
	// define declares the flags and returns what runs once they are parsed.
	define func(*flagSet) func(*streams, []string) error
}

// commands lists the commands; the first is meant when none is named.
var commands = []command{genCommand, checkCommand, inspectCommand, convertCommand, runCommand, benchCommand, calibrateCommand, verifyCommand}

// aliases are other names of commands that people try.
var aliases = map[string]string{"generate": "gen", "benchmark": "bench", "calibration": "calibrate"}

// commandOf returns the command of a name.
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

// commandNames returns the names of the commands.
func commandNames() (names []string) {
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// unknownCommand says what a word was meant for that is neither a command nor a file, nor
// looks like one. It is "" if that is not known.
func unknownCommand(word string) string {
	if _, err := os.Lstat(word); err == nil || strings.ContainsAny(word, `./\-`) {
		return ""
	}
	return meant.Suffix(word, commandNames(), "burngen %s")
}

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
	case "version", "-version", "--version":
		version(s.out)
		return exitOK
	default:
		if named, ok := commandOf(name); ok {
			c, args = named, args[1:]
		} else if meant := unknownCommand(name); meant != "" {
			fmt.Fprintf(s.err, "burngen: no command %q, and no such file%s\n", name, meant)
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
		fmt.Fprintf(s.err, "burngen %s: %s\nusage: burngen %s %s (burngen %s -help tells more)\n", c.name, usage.text, c.name, c.usage, c.name)
		return exitUsage
	case !errors.Is(err, errReported):
		fmt.Fprintln(s.err, err)
	}
	return exitProblem
}

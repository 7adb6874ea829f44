package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/internal/meant"
)

// flagSet is the set of flags of a command, grouped into sections.
type flagSet struct {
	*flag.FlagSet
	titles []string // titles of the sections, in order
	// title of each flag's section
	in map[string]string
}

// The titles of sections. Flags in the sections [ofFiles] and [ofDescriptions] apply only to models of that kind.
const (
	ofFiles        = "flags for ONNX files"
	ofDescriptions = "flags for descriptions in Go"
	ofTraining     = "flags for training"
	ofWeights      = "flags for the tensors of -weights FILE"
	ofTensors      = "flags for weights files"
)

// newFlags declares the flags of command c. The function `run` executes the command, after the flags have been
// parsed. Its second argument holds the arguments that are not flags.
func newFlags(c command) (flags *flagSet, run func(*streams, []string) error) {
	flags = &flagSet{FlagSet: flag.NewFlagSet(c.name, flag.ContinueOnError), in: map[string]string{}}
	flags.SetOutput(io.Discard)
	run = c.define(flags)
	flags.VisitAll(func(f *flag.Flag) { f.Value = &checked{Value: f.Value} })
	return flags, run
}

// section calls the function `declare`, and puts the flags that this function declares into the section called
// title.
func (s *flagSet) section(title string, declare func()) {
	before := map[string]bool{}
	s.VisitAll(func(f *flag.Flag) { before[f.Name] = true })
	declare()
	s.VisitAll(func(f *flag.Flag) {
		if !before[f.Name] && s.in[f.Name] == "" {
			s.in[f.Name] = title
		}
	})
	if !slices.Contains(s.titles, title) {
		s.titles = append(s.titles, title)
	}
}

// given returns the names of flags in alphabetical order: the flags that are in the section called title and that the
// command line sets.
func (s *flagSet) given(title string) (names []string) {
	s.Visit(func(f *flag.Flag) {
		if s.in[f.Name] == title {
			names = append(names, "-"+f.Name)
		}
	})
	return names
}

func (s *flagSet) isGiven(name string) (given bool) {
	s.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// parse parses the flags in args and returns the other arguments. Flags may stand before and after other arguments.
// Every argument after "--" is returned.
func (s *flagSet) parse(args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := s.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, &usageError{s.explain(err.Error())}
		}
		left := s.Args()
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

// explain returns the text of an error from package flag. For an unknown flag it suggests a flag
// with a similar name, if there is one.
func (s *flagSet) explain(text string) string {
	name, unknown := strings.CutPrefix(text, "flag provided but not defined: -")
	if !unknown {
		return text
	}
	var names []string
	s.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return fmt.Sprintf("unknown flag -%s%s", name, meant.Suffix(name, names, "-%s"))
}

// repeated is the value of a flag that may be given more than once.
type repeated interface {
	flag.Value
	repeats()
}

type each func(text string) error

func (each) String() string          { return "" }
func (f each) Set(text string) error { return f(text) }
func (each) repeats()                {}

// checked wraps the value of a flag. It rejects a second use unless the flag is repeatable or a
// bool, and its errors say what is expected.
type checked struct {
	flag.Value
	// the flag has been given
	set bool
}

// Set sets the value. It returns an error if the value does not have the flag's type. It also returns an error if the
// flag is given again but may be given only once.
func (c *checked) Set(text string) error {
	if c.set && !c.isRepeated() && !c.IsBoolFlag() {
		return errors.New("the flag is given twice")
	}
	c.set = true
	err := c.Value.Set(text)
	if g, ok := c.Value.(flag.Getter); ok && err != nil {
		switch g.Get().(type) {
		case time.Duration:
			return errors.New("a time with its unit expected, as in 5s or 300ms")
		case int, int64:
			return errors.New("a whole number expected")
		case bool:
			return errors.New("true or false expected")
		}
	}
	return err
}

func (c *checked) isRepeated() bool {
	_, ok := c.Value.(repeated)
	return ok
}

// IsBoolFlag reports whether the flag may be given without a value.
func (c *checked) IsBoolFlag() bool {
	b, ok := c.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

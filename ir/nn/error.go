package nn

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Error is a mistake in a description.
type Error struct {
	// Pos is the caller's line, as file:line: the first outside this package.
	Pos string
	// Msg begins with the function or layer that found the mistake.
	Msg string
}

// Error returns "model.go:29: Conv2d: input has 8 channels, layer expects 16". A file
// in or below the working directory is named as it is seen from there.
func (e *Error) Error() string { return shortPos(e.Pos) + ": " + e.Msg }

func shortPos(pos string) string {
	dir, err := os.Getwd()
	if err != nil {
		return pos
	}
	file, line, _ := strings.Cut(pos, ".go:")
	if short, err := filepath.Rel(dir, file); err == nil && filepath.IsAbs(file) && filepath.IsLocal(short) {
		file = short
	}
	return file + ".go:" + line
}

// Try runs f and returns what stopped it: an [*Error], or any other panic with the
// position where it began.
func Try(f func()) (err error) {
	defer func() { err = recovered(recover(), err) }()
	f()
	return nil
}

// recovered returns the error of a panic. It is called by the deferred function, while
// the frames of the panic are still there.
func recovered(r any, err error) error {
	switch r := r.(type) {
	case nil:
		return err
	case *Error:
		return r
	}
	pos, _ := caller()
	return &Error{pos, fmt.Sprint("panic: ", r)}
}

// self is how the names of this package's functions begin, and home the folder of
// package ir, as the compiler names it.
const self = "github.com/burngen/burngen/ir/nn."

var home = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(path.Dir(file)) + "/"
}()

// standard are packages of the standard library that call back, or stop where they are
// called wrongly.
var standard = regexp.MustCompile(`^(runtime|reflect|slices|maps|sort|strings|iter|fmt|math|sync|time|internal/[a-z/]+)\.`)

// isOwn reports whether code is that of package ir or below it, or of the standard
// library. Its file tells: a function may be inlined where it is called, and named so.
func isOwn(file, function string) bool {
	return strings.HasPrefix(file, home) && !strings.HasSuffix(file, "_test.go") || standard.MatchString(function)
}

// fail stops with an Error at the caller's line.
func fail(format string, args ...any) {
	pos, function := caller()
	msg := fmt.Sprintf(format, args...)
	if name := calledName(function); name != "" {
		msg = name + ": " + msg
	}
	panic(&Error{pos, msg})
}

// caller returns the innermost position outside this package, as file:line, and the
// function of the package that was called there.
func caller() (pos, function string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !isOwn(f.File, f.Function) {
			return f.File + ":" + strconv.Itoa(f.Line), function
		}
		if strings.HasPrefix(f.Function, self) {
			function = f.Function
		}
		if !more {
			return "?", function
		}
	}
}

// calledName returns MatMul for a method of Value and for a function, and Conv2d for the
// Forward of a layer: "(*Linear).Forward" is Linear, "Value.MatMul" is MatMul and
// "While[...].func1" is While. What is not exported has no name.
func calledName(function string) string {
	function = strings.NewReplacer(self, "", "(*", "", ")", "", "[...]", "").Replace(function)
	receiver, method, ok := strings.Cut(function, ".")
	method, _, _ = strings.Cut(method, ".")
	name := receiver
	if ok && method != "Forward" && !strings.HasPrefix(method, "func") {
		name = method
	}
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return ""
	}
	return name
}

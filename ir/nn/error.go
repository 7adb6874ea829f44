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
	// Pos is the position of the innermost caller outside this package, as file:line.
	Pos string
	// Msg starts with the function or layer that found the mistake.
	Msg string
}

// Error returns a text such as "model.go:29: Conv2d: input has 8 channels, layer expects 16". The file's name is
// relative to the working directory if the file is in or below this directory.
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

// Try runs f and returns the error that stopped it, or nil. If f panics with something that is not an [*Error], Try
// makes an *Error of it, with the position where the panic started.
func Try(f func()) (err error) {
	defer func() { err = recovered(recover(), err) }()
	f()
	return nil
}

// recovered returns the error for a recovered panic r, or err if r is nil. A deferred function
// calls it while the frames of the panic are still on the stack.
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

const self = "github.com/burngen/burngen/ir/nn."

// home is the folder of package ir, as the compiler records it.
var home = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(path.Dir(file)) + "/"
}()

// standard matches packages of the standard library that call user code, or that panic when they are called
// wrongly.
var standard = regexp.MustCompile(`^(runtime|reflect|slices|maps|sort|strings|iter|fmt|math|sync|time|internal/[a-z/]+)\.`)

// isOwn reports whether a frame belongs to package ir or to a package below ir, or to a package that [standard]
// matches. Tests of ir and of the packages below do not count. isOwn looks at the file, because an inlined function
// has its caller's name.
func isOwn(file, function string) bool {
	return strings.HasPrefix(file, home) && !strings.HasSuffix(file, "_test.go") || standard.MatchString(function)
}

// fail panics with an Error at the caller's line.
func fail(format string, args ...any) {
	pos, function := caller()
	msg := fmt.Sprintf(format, args...)
	if name := calledName(function); name != "" {
		msg = name + ": " + msg
	}
	panic(&Error{pos, msg})
}

// caller returns the innermost position outside this package, as file:line. function is the function of this
// package that the code there called.
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

// calledName returns the name under which the user knows a function: "Conv2d" for the Forward of the layer Conv2d,
// "MatMul" for "Value.MatMul", "Linear" for "(*Linear).Forward" and "While" for "While[...].func1". It returns ""
// for unexported functions.
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

package nn

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// self is how the names of this package's functions begin.
const self = "github.com/burngen/burngen/ir/nn."

// fail stops with an Error at the caller's line.
func fail(format string, args ...any) {
	pos, name := caller()
	msg := fmt.Sprintf(format, args...)
	if name != "" {
		msg = name + ": " + msg
	}
	panic(&Error{pos, msg})
}

// caller returns the innermost position outside this package, as file:line, and what
// was called there: "MatMul" for a function or a method of Value, "Conv2d" for the
// Forward of a layer.
func caller() (pos, name string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, self):
			name = calledName(f.Function[len(self):])
		case strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "reflect."):
		default:
			return fmt.Sprintf("%s:%d", f.File, f.Line), name
		}
		if !more {
			return "?", name
		}
	}
}

// calledName turns "(*Linear).Forward" into Linear, "Value.MatMul" into MatMul and
// "While[...].func1" into While; what is not exported has no name.
func calledName(function string) string {
	function = strings.NewReplacer("(*", "", ")", "", "[...]", "").Replace(function)
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

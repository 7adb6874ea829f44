package dash

import (
	"context"
	"io"
	"os"

	"github.com/burngen/burngen/runtime/learn"
)

// Renderer shows a run and lets the user control it. It must be closed after the run.
type Renderer interface {
	learn.Controller
	io.Closer
}

// Terminal returns a renderer that shows a run as a dashboard in the terminal of standard output.
//
// The dashboard opens with the first event. While it is open, it shows the lines that the program
// prints; when it ends, it prints them again. After the run, Close waits until the user presses a
// key. It then prints the last and best values. If Close is called before the end of the run, it
// restores the terminal at once.
//
// When the program gets SIGTERM or SIGHUP, the dashboard restores the terminal and sends the signal
// again, so that the signal has its usual effect. A program that handles the signal gets it twice.
// The first SIGINT, or Ctrl-C, ends the run after the batch, and the second one ends the program.
// If the program dies in another way, such as by a panic, a shell process restores the terminal.
// This works on systems that have sh and stty.
//
// There is no dashboard if standard input or standard output is not a terminal, if the program is
// in the background, if TERM is "dumb", or if NO_COLOR or CI is set. The events then go to
// otherwise[0] or, if it is missing, to [learn.Lines] of standard output. They also go there if the
// dashboard fails.
func Terminal(otherwise ...learn.Renderer) Renderer {
	if len(otherwise) > 0 {
		return newTerminal(otherwise[0])
	}
	return newTerminal(learn.Lines(os.Stdout))
}

// Watch shows the run in folder dir as a dashboard in the terminal of standard output. It returns
// when the user leaves the dashboard or the context is done. It then prints the last and best values.
// The run itself goes on. Watch returns an error if dir has no run, or if standard input or output is
// not a terminal.
func Watch(ctx context.Context, dir string) error { return watch(ctx, dir) }

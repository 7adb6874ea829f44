package dash

import (
	"context"
	"io"
	"os"

	"github.com/burngen/burngen/runtime/learn"
)

// Renderer shows a run, lets the user control it, and is closed after it.
type Renderer interface {
	learn.Controller
	io.Closer
}

// Terminal returns a renderer that shows a run as a dashboard in the terminal of standard output.
//
// The dashboard opens with the first event. It shows the lines that the program prints, and prints
// them again when it ends. After the run, Close waits until the user presses a key; then it prints
// the last and best values. Close before the end of the run restores the terminal at once.
//
// SIGTERM and SIGHUP restore the terminal and then go on to the program: if it handles them, it
// gets them a second time. SIGINT, or Ctrl-C, ends the run after the batch, and the second one ends
// the program. If the program dies in another way, such as by a panic, a shell that waits beside it
// restores the terminal, on systems that have sh and stty.
//
// There is no dashboard if standard input or standard output is not a terminal, if the program is
// in the background, if TERM is "dumb", or if NO_COLOR or CI is set. The events then go to
// otherwise. They also go there if the dashboard fails. Without otherwise they go to [learn.Lines]
// of standard output.
func Terminal(otherwise ...learn.Renderer) Renderer {
	if len(otherwise) > 0 {
		return newTerminal(otherwise[0])
	}
	return newTerminal(learn.Lines(os.Stdout))
}

// Watch shows the run in a folder as a dashboard in the terminal of standard output, until the user leaves
// it or the context is done. It then prints the last and best values. The run itself goes on. Watch
// returns an error if no run is in the folder, or standard input or output is not a terminal.
func Watch(ctx context.Context, dir string) error { return watch(ctx, dir) }

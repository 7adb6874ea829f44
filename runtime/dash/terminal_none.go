//go:build !unix && !windows

package dash

import (
	"context"
	"errors"
	"io"

	"github.com/burngen/burngen/runtime/learn"
)

// none is the renderer on systems without terminals. It passes all events to `otherwise`.
type none struct{ otherwise learn.Renderer }

func newTerminal(otherwise learn.Renderer) Renderer { return none{otherwise} }

// Event implements [learn.Renderer].
func (n none) Event(e learn.Event) {
	if n.otherwise != nil {
		n.otherwise.Event(e)
	}
}

// Control implements [learn.Controller].
func (n none) Control(c learn.Controls) {
	if o, ok := n.otherwise.(learn.Controller); ok {
		o.Control(c)
	}
}

// Close implements [io.Closer].
func (n none) Close() error {
	if c, ok := n.otherwise.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func watch(context.Context, string) error {
	return errors.New("a terminal is needed, which this system does not have")
}

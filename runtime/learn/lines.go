package learn

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const lineEvery = 30 * time.Second

// Lines returns a renderer that writes a line for each epoch, and one for each validation within an epoch.
// The line of a validation shows the mean training loss since the previous validation or the start of the
// epoch. If w is not a terminal, Lines writes at most one line in 30 seconds, and always the last line. On
// a terminal it also shows the batch, in a line that it rewrites. It does not do so if TERM is dumb, or if
// CI or NO_COLOR is set. w is usually os.Stdout. Errors of w are ignored.
func Lines(w io.Writer) Renderer { return &lines{w: w, rewrites: isTerminal(w)} }

type lines struct {
	w        io.Writer
	rewrites bool

	started Started
	values  map[Split][]Value // that were measured last
	whole   bool              // the epoch that is under way was trained on all its batches
	lost    float64           // sum of the losses of items since the last epoch or validation
	count   int               // of these items
	items   int               // of the epoch that is under way
	spent   time.Duration     // on them
	shown   time.Time         // when a line was written last
	untold  string            // the last line, until it is written
	width   int               // of the line that is rewritten
}

// isTerminal reports whether w is a terminal on which a line may be rewritten.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || os.Getenv("CI") != "" || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Event implements [Renderer].
func (l *lines) Event(e Event) {
	switch e := e.(type) {
	case Started:
		l.started, l.values, l.untold = e, map[Split][]Value{}, ""
	case Stepped:
		if e.Split == Train {
			l.items += e.Items
			l.spent += e.Waited + e.Took
			l.lost += float64(e.Loss) * float64(e.Items)
			l.count += e.Items
		}
		if l.rewrites && e.Time.Sub(l.shown) >= 100*time.Millisecond {
			l.shown = e.Time
			l.rewrite(l.progress(e))
		}
	case Measured:
		if l.values != nil {
			l.values[e.Split] = e.Values
		}
		switch {
		case e.Split == Train:
			l.whole = true
		case e.Split == Valid && !l.whole:
			var train []Value
			if l.count > 0 {
				train = []Value{{Name: "loss", Value: Number(l.lost / float64(l.count))}}
			}
			l.line(e.Time, "step "+l.of(e.Step, l.started.Steps), train)
		}
	case EpochEnded:
		l.line(e.Time, "epoch "+l.of(e.Epoch+1, l.started.Epochs), l.values[Train])
		l.whole, l.items, l.spent = false, 0, 0
	case Warned:
		l.rewrite("")
		fmt.Fprintln(l.w, "warning:", e.Message)
	case Stopped:
		l.tell(e.Time)
		l.rewrite("")
	}
}

// line prepares the line of an epoch or of a validation. The line begins with head, followed by the
// values in train and the values of the last validation. On a terminal it writes the line at once,
// elsewhere only if lineEvery has passed since the last line.
func (l *lines) line(at time.Time, head string, train []Value) {
	var b strings.Builder
	b.WriteString(head)
	for _, of := range []struct {
		split  Split
		values []Value
	}{{Train, train}, {Valid, l.values[Valid]}} {
		for i, v := range of.values {
			if i == 0 {
				fmt.Fprintf(&b, "  %s", of.split)
			}
			fmt.Fprintf(&b, "  %s %s", v.Name, format(v.Value, l.unit(v.Name)))
		}
	}
	if l.spent > 0 {
		fmt.Fprintf(&b, "  %.4g items/s", float64(l.items)/l.spent.Seconds())
	}
	l.lost, l.count, l.untold = 0, 0, b.String()
	if l.rewrites || at.Sub(l.shown) >= lineEvery {
		l.tell(at)
	}
}

// tell writes the prepared line if it has not been written.
func (l *lines) tell(at time.Time) {
	if l.untold == "" {
		return
	}
	l.rewrite("")
	fmt.Fprintln(l.w, l.untold)
	l.shown, l.untold = at, ""
}

func (l *lines) progress(e Stepped) string {
	batches := l.started.Batches
	if e.Split == Valid {
		batches = l.started.Valid
	}
	return fmt.Sprintf("epoch %s  %s %s  loss %s", l.of(e.Epoch+1, l.started.Epochs), e.Split, l.of(e.Batch+1, batches), format(e.Loss, ""))
}

// of returns "3/10" for n and limit, or "3" if limit is 0.
func (l *lines) of(n, limit int) string {
	if limit == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, limit)
}

func (l *lines) unit(name string) string {
	for _, s := range l.started.Metrics {
		if s.Name == name {
			return s.Unit
		}
	}
	return ""
}

// rewrite replaces the text of the progress line, if there is one.
func (l *lines) rewrite(text string) {
	if !l.rewrites || l.width == 0 && text == "" {
		return
	}
	fmt.Fprintf(l.w, "\r%-*s", l.width, text)
	l.width = len([]rune(text))
	if text == "" {
		fmt.Fprint(l.w, "\r")
	}
}

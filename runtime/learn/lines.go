package learn

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// lineEvery is the least time between lines of [Lines].
const lineEvery = 30 * time.Second

// Lines returns a renderer that writes a line for an epoch, and not more than one in 30 seconds. The end
// of the run always has a line. On a terminal one line is rewritten after each batch, unless TERM is
// dumb, or CI or NO_COLOR is set. w is usually os.Stdout. Errors of w are ignored.
func Lines(w io.Writer) Renderer { return &lines{w: w, rewrites: isTerminal(w)} }

type lines struct {
	w        io.Writer
	rewrites bool

	started Started
	values  map[Split][]Value // that were measured last
	epochs  int               // that are done
	items   int               // of the epoch that is under way
	spent   time.Duration     // on them
	speed   float64           // items in a second in the last epoch
	shown   time.Time         // when a line was written last
	told    bool              // the last epoch has a line
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
		l.started, l.epochs, l.values, l.told = e, e.Epoch, map[Split][]Value{}, true
	case Stepped:
		if e.Split == Train {
			l.items += e.Items
			l.spent += e.Waited + e.Took
		}
		if l.rewrites && e.Time.Sub(l.shown) >= 100*time.Millisecond {
			l.shown = e.Time
			l.rewrite(l.progress(e))
		}
	case Measured:
		if l.values != nil {
			l.values[e.Split] = e.Values
		}
	case EpochEnded:
		l.epochs, l.told, l.speed = e.Epoch+1, false, 0
		if l.spent > 0 {
			l.speed = float64(l.items) / l.spent.Seconds()
		}
		l.items, l.spent = 0, 0
		if l.rewrites || e.Time.Sub(l.shown) >= lineEvery {
			l.line(e.Time)
		}
	case Warned:
		l.rewrite("")
		fmt.Fprintln(l.w, "warning:", e.Message)
	case Stopped:
		if !l.told {
			l.line(e.Time)
		}
		l.rewrite("")
	}
}

// line writes the line of the last epoch.
func (l *lines) line(at time.Time) {
	l.shown, l.told = at, true
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %s", l.of(l.epochs, l.started.Epochs))
	for _, split := range []Split{Train, Valid} {
		for i, v := range l.values[split] {
			if i == 0 {
				fmt.Fprintf(&b, "  %s", split)
			}
			fmt.Fprintf(&b, "  %s %s", v.Name, format(v.Value, l.unit(v.Name)))
		}
	}
	if l.speed > 0 {
		fmt.Fprintf(&b, "  %.4g items/s", l.speed)
	}
	l.rewrite("")
	fmt.Fprintln(l.w, b.String())
}

// progress returns the line that is rewritten.
func (l *lines) progress(e Stepped) string {
	batches := l.started.Batches
	if e.Split == Valid {
		batches = l.started.Valid
	}
	return fmt.Sprintf("epoch %s  %s %s  loss %s", l.of(e.Epoch+1, l.started.Epochs), e.Split, l.of(e.Batch+1, batches), format(e.Loss, ""))
}

// of returns "3/10", or "3" if there is no limit.
func (l *lines) of(n, limit int) string {
	if limit == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, limit)
}

// unit returns the unit of a metric.
func (l *lines) unit(name string) string {
	for _, s := range l.started.Metrics {
		if s.Name == name {
			return s.Unit
		}
	}
	return ""
}

// rewrite replaces the line that is rewritten.
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

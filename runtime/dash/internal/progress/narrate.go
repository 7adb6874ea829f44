package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

// narrate returns the line with which the log shows an event. It returns false if the log does not
// show the event.
func (r *Run) narrate(e learn.Event) (Line, bool) {
	switch e := e.(type) {
	case learn.Started:
		text := fmt.Sprintf("%s starts", e.Run)
		if e.Step > 0 {
			text = fmt.Sprintf("%s continues at epoch %d, batch %d", e.Run, e.Epoch+1, e.Batch+1)
		}
		if e.Parameters > 0 {
			text += fmt.Sprintf(", %s parameters", Count(float64(e.Parameters)))
		}
		return Line{e.Time, Info, text}, true
	case learn.Measured:
		if e.Split == learn.System || len(e.Values) == 0 {
			return Line{}, false
		}
		return Line{e.Time, Info, fmt.Sprintf("epoch %d: %s %s", e.Epoch+1, e.Split, r.list(e.Values))}, true
	case learn.Improved:
		text := fmt.Sprintf("epoch %d: best %s, %s", e.Epoch+1, e.Key, r.value(e.Key, e.Value))
		if e.Before == e.Before { // not NaN
			text += ", before " + r.value(e.Key, e.Before)
		}
		return Line{e.Time, Good, text}, true
	case learn.Saved:
		return Line{e.Time, Info, fmt.Sprintf("saved %s, %s in %v", e.File, Bytes(e.Bytes), e.Took.Round(time.Millisecond))}, true
	case learn.Deleted:
		return Line{e.Time, Info, "deleted " + e.File}, true
	case learn.Warned:
		return Line{e.Time, Warning, "warning: " + e.Message}, true
	case learn.Stopped:
		return Line{e.Time, Info, "stopped: " + e.Reason}, true
	}
	return Line{}, false
}

func (r *Run) list(values []learn.Value) string {
	var parts []string
	for i, v := range values {
		if i == 4 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, cleanName(v.Name)+" "+Value(float64(v.Value), r.unit(v.Name)))
	}
	return strings.Join(parts, ", ")
}

func (r *Run) value(key string, v learn.Number) string {
	_, name, _ := strings.Cut(key, " ")
	return Value(float64(v), r.unit(name))
}

func (r *Run) unit(name string) string {
	name = cleanName(name)
	for _, s := range r.metrics {
		if s.Name == name {
			return s.Unit
		}
	}
	return ""
}

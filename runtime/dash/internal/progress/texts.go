package progress

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/burngen/burngen/runtime/learn"
)

// Position says in which epoch and batch the run is.
func (f *Frame) Position() string {
	text := fmt.Sprintf("epoch %d", f.Epoch+1)
	if f.Started.Epochs > 0 {
		text += fmt.Sprintf("/%d", f.Started.Epochs)
	}
	if f.Batches > 0 {
		return text + fmt.Sprintf(" · batch %d/%d", f.Batch, f.Batches)
	}
	text += fmt.Sprintf(" · step %d", f.Step)
	if f.Started.Steps > 0 {
		text += fmt.Sprintf("/%d", f.Started.Steps)
	}
	return text
}

// Readings returns the last values of the optimizer and of the machine. Each is a short text.
func (f *Frame) Readings() (out []string) {
	for _, r := range f.readings {
		out = append(out, r.name+" "+Value(r.value, r.unit))
	}
	if f.Speed > 0 {
		out = append(out, fmt.Sprintf("data wait %.0f %%", 100*f.Waiting))
	}
	return out
}

// Splits returns the splits that have values, in order.
func (f *Frame) Splits() (out []learn.Split) {
	for _, s := range splits {
		for _, row := range f.Rows {
			if _, ok := row.Values[s]; ok {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// Text returns the row's last value for a split, with its unit. It returns "" if there is no such
// value.
func (r Row) Text(s learn.Split) string {
	v, ok := r.Values[s]
	if !ok {
		return ""
	}
	return Value(v, r.Unit)
}

// BestText returns the row's best value, with its unit and its epoch. It returns "" if there is no
// best value.
func (r Row) BestText() string {
	if !r.HasBest {
		return ""
	}
	return fmt.Sprintf("%s e%d", Value(r.Best, r.Unit), r.BestEpoch+1)
}

// Summary returns a table of the last and best values of all metrics, and the reason for which the
// run stopped. It returns "" if no run was seen.
func (r *Run) Summary() string {
	f := r.Frame(Tab{}, 0)
	if !f.HasStarted {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %d steps", f.Started.Run, f.Step)
	if f.Stopped != nil {
		fmt.Fprintf(&out, " in %s; %s", Clock(f.Stopped.Took), Clean(f.Stopped.Reason, maxText))
	}
	out.WriteString("\n")
	if len(f.Rows) == 0 {
		return out.String()
	}
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	shown := f.Splits()
	for _, s := range shown {
		fmt.Fprintf(w, "\t%s", s)
	}
	fmt.Fprint(w, "\tbest @\n")
	for _, row := range f.Rows {
		fmt.Fprint(w, row.Name)
		for _, s := range shown {
			fmt.Fprintf(w, "\t%s", row.Text(s))
		}
		fmt.Fprintf(w, "\t%s\n", row.BestText())
	}
	w.Flush()
	return out.String()
}

package learn

import (
	"context"
	"log/slog"
	"time"
)

// newLogFile returns the logger of experiment.log, in the text format of package slog. A continued
// run appends to the file.
func newLogFile() Logger {
	l := &tapeLogger{name: "experiment.log", keeps: true}
	l.put = func(t *tape, e Event) error { return logTo(slog.NewTextHandler(t, nil), e) }
	return l
}

// Slog returns a [Logger] that passes the events of a run to a handler of package slog. Batches
// have the level Debug, warnings the level Warn, and all other events the level Info.
func Slog(h slog.Handler) Logger { return slogLogger{h} }

type slogLogger struct{ handler slog.Handler }

func (slogLogger) Open(dir, mark string) error { return nil }
func (l slogLogger) Event(e Event) error       { return logTo(l.handler, e) }
func (slogLogger) Mark() string                { return "" }
func (slogLogger) Flush() error                { return nil }
func (slogLogger) Close() error                { return nil }

// logTo passes an event to a handler. Epochs are numbered from 1.
func logTo(h slog.Handler, e Event) error {
	level := slog.LevelInfo
	switch e.(type) {
	case Stepped:
		level = slog.LevelDebug
	case Warned:
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !h.Enabled(ctx, level) {
		return nil
	}
	at, text, attrs := described(e)
	r := slog.NewRecord(at, level, text, 0)
	r.AddAttrs(attrs...)
	return h.Handle(ctx, r)
}

// described returns the time, message and attributes of an event for package slog.
func described(e Event) (at time.Time, text string, attrs []slog.Attr) {
	place := func(epoch, step int) []slog.Attr {
		return []slog.Attr{slog.Int("epoch", epoch+1), slog.Int("step", step)}
	}
	switch e := e.(type) {
	case Started:
		return e.Time, "started", append(place(e.Epoch, e.Step), slog.String("run", e.Run), slog.Int("batch", e.Batch),
			slog.Int("epochs", e.Epochs), slog.Int("steps", e.Steps), slog.Int("items", e.Items), slog.Int64("parameters", e.Parameters))
	case Stepped:
		return e.Time, string(e.Split), append(place(e.Epoch, e.Step), slog.Int("batch", e.Batch), slog.Float64("loss", float64(e.Loss)))
	case Measured:
		attrs := place(e.Epoch, e.Step)
		for _, v := range e.Values {
			attrs = append(attrs, slog.Float64(v.Name, float64(v.Value)))
		}
		return e.Time, string(e.Split), attrs
	case EpochEnded:
		return e.Time, "epoch ended", append(place(e.Epoch, e.Step), slog.Duration("took", e.Took))
	case Saved:
		return e.Time, "saved", append(place(e.Epoch, e.Step), slog.String("file", e.File), slog.Int64("bytes", e.Bytes), slog.Duration("took", e.Took))
	case Deleted:
		return e.Time, "deleted", []slog.Attr{slog.String("file", e.File)}
	case Improved:
		return e.Time, "improved", append(place(e.Epoch, e.Step), slog.String("key", e.Key),
			slog.Float64("value", float64(e.Value)), slog.Float64("before", float64(e.Before)))
	case Warned:
		return e.Time, e.Message, nil
	case Stopped:
		return e.Time, "stopped", append(place(e.Epoch, e.Step), slog.String("reason", e.Reason), slog.Bool("done", e.Done), slog.Duration("took", e.Took))
	}
	return time.Time{}, e.kind(), nil
}

package serve

import (
	"context"
	"log/slog"
	"time"
)

// exchange is the record of one request for logs and metrics.
type exchange struct {
	protocol, path, client, model string
	status                        int
	err                           error
	received, sent                int64
	took, waited, computed        time.Duration
	batch                         int
}

func (e *exchange) note(j *job) {
	if j != nil {
		e.waited, e.computed, e.batch = j.waited, j.computed, j.batch
	}
}

func (e *exchange) log(ctx context.Context, l *slog.Logger) {
	level := slog.LevelInfo
	if e.status >= 500 {
		level = slog.LevelError
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("protocol", e.protocol), slog.String("path", e.path), slog.String("client", e.client),
		slog.Int("status", e.status), slog.Int64("received", e.received), slog.Int64("sent", e.sent), slog.Duration("took", e.took)}
	if e.computed > 0 {
		attrs = append(attrs, slog.Duration("waited", e.waited), slog.Duration("computed", e.computed), slog.Int("batch", e.batch))
	}
	if e.err != nil {
		attrs = append(attrs, slog.String("error", e.err.Error()))
	}
	l.LogAttrs(ctx, level, "request", attrs...)
}

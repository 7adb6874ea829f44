package serve

import (
	"log/slog"
	"runtime"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Options are the limits and settings of a server. The zero value has the defaults.
type Options struct {
	// Sessions is the number of sessions of each model: so many calls run at once. The default is
	// GOMAXPROCS.
	Sessions int
	// MaxBatch is the largest number of items in a batch of several requests. With 1, the default, each
	// request is computed alone. Requests for a method can be in one batch only if all its inputs and
	// outputs have the batch as their first dimension.
	MaxBatch int
	// MaxDelay is the time for which a request may wait for others while a session is idle. The default
	// is 0.
	MaxDelay time.Duration
	// MaxQueue is the number of requests that may wait for a model, 256 by default. A client may also
	// have at most this number of requests under way.
	MaxQueue int
	// MaxBody is the number of bytes of a request, 64 MiB by default.
	MaxBody int64
	// Timeout bounds the time from a request's header to its results, 30 s by default.
	Timeout time.Duration
	// MaxSequences is the number of sequences of a model with states, 1024 by default.
	MaxSequences int
	// SequenceTTL is the time without requests after which a sequence ends, 5 min by default.
	SequenceTTL time.Duration
	// Repository lets clients load and unload models.
	Repository bool
	// Token must follow "Bearer " in the header Authorization of requests, unless it is "". Requests
	// for health need no token.
	Token string
	// Origins are the origins of pages whose scripts may read answers. "*" stands for all.
	Origins []string
	// ClientHeader is a header whose first value tells clients apart, such as X-Forwarded-For behind a
	// proxy. "" tells them apart by their addresses.
	ClientHeader string
	// Tracer makes a span of each request of inference. Nil makes none.
	Tracer trace.Tracer
	// Log gets a line for each request, and what happens to models. Nil logs nothing.
	Log *slog.Logger
}

// complete replaces unset options by their defaults.
func (o *Options) complete() {
	set := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	set(&o.Sessions, runtime.GOMAXPROCS(0))
	set(&o.MaxBatch, 1)
	set(&o.MaxQueue, 256)
	set(&o.MaxSequences, 1024)
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.SequenceTTL <= 0 {
		o.SequenceTTL = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

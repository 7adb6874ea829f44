package serve

import (
	"context"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// traced begins a span for an inference request. The headers of the request say to which trace
// the span belongs. The function `end` ends the span and sets its attributes from e.
func (s *Server) traced(ctx context.Context, header propagation.TextMapCarrier, e *exchange) (_ context.Context, end func()) {
	if s.options.Tracer == nil {
		return ctx, func() {}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, header)
	ctx, span := s.options.Tracer.Start(ctx, "infer", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func() {
		span.SetAttributes(attribute.String("model", e.model), attribute.String("protocol", e.protocol), attribute.Int("status", e.status),
			attribute.Int("batch", e.batch), attribute.Float64("queue_seconds", e.waited.Seconds()), attribute.Float64("compute_seconds", e.computed.Seconds()))
		if e.err != nil {
			span.SetStatus(codes.Error, e.err.Error())
		}
		span.End()
	}
}

type carrier metadata.MD

func (c carrier) Get(name string) string {
	if list := metadata.MD(c).Get(name); len(list) > 0 {
		return list[0]
	}
	return ""
}

func (c carrier) Set(name, value string) { metadata.MD(c).Set(name, value) }

func (c carrier) Keys() (names []string) {
	for name := range c {
		names = append(names, name)
	}
	return names
}

// exporting returns a tracer with the settings of the environment variables OTEL_*. If these do
// not configure tracing, the tracer is nil. The returned function sends the remaining spans and
// ends the tracer.
func exporting(ctx context.Context) (trace.Tracer, func(context.Context) error, error) {
	nowhere := func(context.Context) error { return nil }
	named := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || os.Getenv("OTEL_TRACES_EXPORTER") == "otlp"
	if !named || os.Getenv("OTEL_TRACES_EXPORTER") == "none" || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, nowhere, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nowhere, err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	return provider.Tracer("github.com/burngen/burngen/runtime/serve"), provider.Shutdown, nil
}

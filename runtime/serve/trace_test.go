package serve

import (
	"context"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc/metadata"

	"github.com/burngen/burngen/runtime/serve/internal/inference"
)

// TestTraces asserts that requests of both protocols are spans of the trace that their headers name.
func TestTraces(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(spans))
	s := newTest(t, Options{Sessions: 1, Tracer: provider.Tracer("test")}, (&doubler{}).model("double"))
	const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	post(s, "/v2/models/double/infer", pair(1, 2), "traceparent", parent)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", parent)
	if _, err := inference.NewGRPCInferenceServiceClient(dial(t, s)).ModelInfer(ctx, doubleRequest()); err != nil {
		t.Fatal(err)
	}
	until(t, "two spans", func() bool { return len(spans.GetSpans()) == 2 })
	for _, span := range spans.GetSpans() {
		if span.SpanContext.TraceID().String() != "0123456789abcdef0123456789abcdef" || span.Parent.SpanID().String() != "0123456789abcdef" {
			t.Errorf("%v of %v", span.SpanContext, span.Parent)
		}
	}
}

func TestTracesGoNowhere(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"} {
		t.Setenv(name, "")
	}
	tracer, stop, err := exporting(t.Context())
	if tracer != nil || err != nil || stop(context.Background()) != nil {
		t.Errorf("%v, %v", tracer, err)
	}
}

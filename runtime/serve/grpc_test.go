package serve

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/burngen/burngen/runtime/serve/internal/inference"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// dial serves gRPC on the loopback and returns a connection to it.
func dial(t *testing.T, s *Server) *grpc.ClientConn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	g := s.GRPC()
	go g.Serve(l)
	t.Cleanup(g.Stop)
	c, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func floats(list ...float32) []byte {
	var b []byte
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func doubleRequest() *inference.ModelInferRequest {
	return &inference.ModelInferRequest{ModelName: "double", Id: "7", Inputs: []*inference.ModelInferRequest_InferInputTensor{{Name: "x", Datatype: "FP32", Shape: []int64{1, 2}}},
		RawInputContents: [][]byte{floats(1, 2)}}
}

// TestGRPC calls every method of the protocol, and the services of health and reflection.
func TestGRPC(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, Repository: true}, (&doubler{}).model("double"))
	c := dial(t, s)
	client, ctx := inference.NewGRPCInferenceServiceClient(c), t.Context()
	check := func(what string, got fmt.Stringer, err error, want string) {
		t.Helper()
		text := strings.ReplaceAll(fmt.Sprint(got), "  ", " ") // the text of messages has one blank or two
		if err != nil || text != want {
			t.Errorf("%s: %s, %v, want %s", what, text, err, want)
		}
	}
	live, err := client.ServerLive(ctx, &inference.ServerLiveRequest{})
	check("live", live, err, "live:true")
	ready, err := client.ServerReady(ctx, &inference.ServerReadyRequest{})
	check("ready", ready, err, "ready:true")
	modelReady, err := client.ModelReady(ctx, &inference.ModelReadyRequest{Name: "double", Version: "1"})
	check("model ready", modelReady, err, "ready:true")
	about, err := client.ServerMetadata(ctx, &inference.ServerMetadataRequest{})
	check("server", about, err, `name:"burngen" version:"devel" extensions:"binary_tensor_data" extensions:"model_repository" extensions:"sequence"`)
	model, err := client.ModelMetadata(ctx, &inference.ModelMetadataRequest{Name: "double"})
	check("model", model, err, `name:"double" versions:"1" platform:"burngen" inputs:{name:"x" datatype:"FP32" shape:-1 shape:2} outputs:{name:"y" datatype:"FP32" shape:-1 shape:2}`)
	infer := func(q *inference.ModelInferRequest) {
		t.Helper()
		a, err := client.ModelInfer(ctx, q)
		check("infer", a, err, `model_name:"double" model_version:"1" id:"7" outputs:{name:"y" datatype:"FP32" shape:1 shape:2} raw_output_contents:"\x00\x00\x00@\x00\x00\x80@"`)
	}
	infer(doubleRequest())
	listed := doubleRequest()
	listed.RawInputContents, listed.Inputs[0].Contents = nil, &inference.InferTensorContents{Fp32Contents: []float32{1, 2}}
	infer(listed)
	if _, err := client.RepositoryModelUnload(ctx, &inference.RepositoryModelUnloadRequest{ModelName: "double"}); err != nil {
		t.Error(err)
	}
	index, err := client.RepositoryIndex(ctx, &inference.RepositoryIndexRequest{})
	check("index", index, err, `models:{name:"double" version:"1" state:"UNAVAILABLE" reason:"unloaded"}`)
	if _, err := client.ModelInfer(ctx, doubleRequest()); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	checks := grpc_health_v1.NewHealthClient(c)
	h, err := checks.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	check("health", h, err, "status:NOT_SERVING")
	if _, err := client.RepositoryModelLoad(ctx, &inference.RepositoryModelLoadRequest{ModelName: "double"}); err != nil {
		t.Error(err)
	}
	h, err = checks.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "double"})
	check("health", h, err, "status:SERVING")
	if _, err := checks.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "other"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	stream, err := grpc_reflection_v1.NewServerReflectionClient(c).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if a, err := stream.Recv(); err != nil || !strings.Contains(a.String(), "inference.GRPCInferenceService") {
		t.Errorf("%v, %v", a, err)
	}
}

// TestGRPCDatatypes sends lists of elements of every type that has them.
func TestGRPCDatatypes(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, echoModel())
	client := inference.NewGRPCInferenceServiceClient(dial(t, s))
	q := &inference.ModelInferRequest{ModelName: "echo"}
	var want [][]byte
	for _, d := range datatypes {
		size, _ := untyped.SizeOf(d.dtype)
		data := make([]byte, 4*size)
		if d.dtype != "string" {
			data[0] = 1
		} else {
			data = []byte("\x01\x00\x00\x00a\x00\x00\x00\x00\x02\x00\x00\x00\xffb\x00\x00\x00\x00")
		}
		want = append(want, data)
		q.Inputs = append(q.Inputs, &inference.ModelInferRequest_InferInputTensor{Name: strings.ToLower(d.name), Datatype: d.name, Shape: []int64{2, 2}})
	}
	q.RawInputContents = want
	a, err := client.ModelInfer(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range a.RawOutputContents {
		if string(data) != string(want[i]) {
			t.Errorf("%s: %q, want %q", a.Outputs[i].Datatype, data, want[i])
		}
	}
	lists := map[string]*inference.InferTensorContents{
		"BOOL": {BoolContents: []bool{true}}, "BYTES": {BytesContents: [][]byte{[]byte("a")}}, "FP32": {Fp32Contents: []float32{1}}, "FP64": {Fp64Contents: []float64{1}},
		"INT8": {IntContents: []int32{-128}}, "INT16": {IntContents: []int32{-32768}}, "INT32": {IntContents: []int32{math.MinInt32}}, "INT64": {Int64Contents: []int64{-1}},
		"UINT8": {UintContents: []uint32{255}}, "UINT16": {UintContents: []uint32{65535}}, "UINT32": {UintContents: []uint32{math.MaxUint32}}, "UINT64": {Uint64Contents: []uint64{math.MaxUint64}},
	}
	wide := map[string]*inference.InferTensorContents{
		"INT8": {IntContents: []int32{128}}, "INT16": {IntContents: []int32{-32769}}, "UINT8": {UintContents: []uint32{256}}, "UINT16": {UintContents: []uint32{65536}},
		"FP16": {Fp32Contents: []float32{1}}, "BF16": {Fp32Contents: []float32{1}}, "FP32": {Fp64Contents: []float64{1}}, "INT64": {IntContents: []int32{1}},
	}
	for _, d := range datatypes {
		size, _ := untyped.SizeOf(d.dtype)
		p := &untyped.Port{DType: d.dtype, Size: size}
		for _, c := range []*inference.InferTensorContents{lists[d.name], wide[d.name]} {
			x := untyped.Tensor{Port: p, Shape: []int{1}}
			if c == nil {
				continue
			}
			if err := setContents(&x, c); (err == nil) != (c == lists[d.name]) {
				t.Errorf("%s: %v: %v", d.name, c, err)
			}
		}
	}
}

// TestHostileMessages asserts that messages which are wrong on purpose are refused with a code.
func TestHostileMessages(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, MaxBody: 1 << 20, Token: "secret"}, (&doubler{}).model("double"))
	client := inference.NewGRPCInferenceServiceClient(dial(t, s))
	authorized := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer secret")
	for name, c := range map[string]struct {
		change func(q *inference.ModelInferRequest)
		want   codes.Code
	}{
		"as it should be":  {func(q *inference.ModelInferRequest) {}, codes.OK},
		"an unknown model": {func(q *inference.ModelInferRequest) { q.ModelName = "other" }, codes.NotFound},
		"an unknown input": {func(q *inference.ModelInferRequest) { q.Inputs[0].Name = "z" }, codes.InvalidArgument},
		"no input":         {func(q *inference.ModelInferRequest) { q.Inputs, q.RawInputContents = nil, nil }, codes.InvalidArgument},
		"an empty input":   {func(q *inference.ModelInferRequest) { q.Inputs[0].Reset() }, codes.InvalidArgument},
		"twice": {func(q *inference.ModelInferRequest) {
			q.Inputs = append(q.Inputs, q.Inputs[0])
			q.RawInputContents = append(q.RawInputContents, floats(1, 2))
		}, codes.InvalidArgument},
		"more raw":          {func(q *inference.ModelInferRequest) { q.RawInputContents = append(q.RawInputContents, nil) }, codes.InvalidArgument},
		"less raw":          {func(q *inference.ModelInferRequest) { q.RawInputContents[0] = floats(1) }, codes.InvalidArgument},
		"half an element":   {func(q *inference.ModelInferRequest) { q.RawInputContents[0] = []byte{1, 2, 3} }, codes.InvalidArgument},
		"both":              {func(q *inference.ModelInferRequest) { q.Inputs[0].Contents = &inference.InferTensorContents{} }, codes.InvalidArgument},
		"neither":           {func(q *inference.ModelInferRequest) { q.RawInputContents = nil }, codes.InvalidArgument},
		"a negative extent": {func(q *inference.ModelInferRequest) { q.Inputs[0].Shape[0] = -1 }, codes.InvalidArgument},
		"an overflow":       {func(q *inference.ModelInferRequest) { q.Inputs[0].Shape[0] = math.MaxInt64 }, codes.InvalidArgument},
		"another datatype":  {func(q *inference.ModelInferRequest) { q.Inputs[0].Datatype = "INT32" }, codes.InvalidArgument},
		"an unknown output": {func(q *inference.ModelInferRequest) {
			q.Outputs = append(q.Outputs, &inference.ModelInferRequest_InferRequestedOutputTensor{})
		}, codes.InvalidArgument},
		"a large message": {func(q *inference.ModelInferRequest) { q.Id = strings.Repeat("x", 2<<20) }, codes.ResourceExhausted},
	} {
		q := doubleRequest()
		c.change(q)
		if _, err := client.ModelInfer(authorized, q); status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := client.ModelInfer(t.Context(), doubleRequest()); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
	if _, err := client.ServerLive(t.Context(), &inference.ServerLiveRequest{}); err != nil {
		t.Error(err)
	}
}

// TestHalfAMessage sends the beginning of a connection and of a message, and goes. The server answers
// others.
func TestHalfAMessage(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"))
	c := dial(t, s)
	conn, err := net.Dial("tcp", c.Target())
	if err != nil {
		t.Fatal(err)
	}
	// The preface of HTTP/2, empty settings, and half of a frame of headers.
	io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x40\x01\x04\x00\x00\x00\x01\x83")
	conn.Close()
	if _, err := inference.NewGRPCInferenceServiceClient(c).ModelInfer(t.Context(), doubleRequest()); err != nil {
		t.Error(err)
	}
}

// TestGRPCDeadline asserts that the deadline of a call ends it in a session.
func TestGRPCDeadline(t *testing.T) {
	d := &doubler{gate: make(chan struct{})}
	s := newTest(t, Options{Sessions: 1}, d.model("double"))
	client := inference.NewGRPCInferenceServiceClient(dial(t, s))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := client.ModelInfer(ctx, doubleRequest()); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
	close(d.gate)
	if _, err := client.ModelInfer(t.Context(), doubleRequest()); err != nil {
		t.Error(err)
	}
}

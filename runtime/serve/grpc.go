package serve

import (
	"context"
	"math"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"github.com/burngen/burngen/runtime/serve/internal/inference"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// GRPC returns a gRPC server of the protocol. It also has the services of health and of reflection.
// The given options are added to the options that s sets itself.
func (s *Server) GRPC(options ...grpc.ServerOption) *grpc.Server {
	size := int(min(s.options.MaxBody, math.MaxInt32))
	g := grpc.NewServer(append([]grpc.ServerOption{
		grpc.MaxRecvMsgSize(size),
		grpc.MaxHeaderListSize(64 << 10),
		grpc.MaxConcurrentStreams(uint32(s.options.MaxQueue + s.options.Sessions)),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: 10 * time.Minute, Time: time.Minute}),
		grpc.ChainUnaryInterceptor(s.guardGRPC),
	}, options...)...)
	inference.RegisterGRPCInferenceServiceServer(g, &service{server: s})
	grpc_health_v1.RegisterHealthServer(g, &health{server: s})
	reflection.Register(g)
	return g
}

// guardGRPC refuses requests without the token, except liveness, readiness and health checks. It
// converts errors to gRPC statuses.
func (s *Server) guardGRPC(ctx context.Context, q any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	switch info.FullMethod {
	case inference.GRPCInferenceService_ServerLive_FullMethodName, inference.GRPCInferenceService_ServerReady_FullMethodName, grpc_health_v1.Health_Check_FullMethodName:
	default:
		if !s.allows(headerOf(ctx)("authorization")) {
			return nil, status.Error(codes.Unauthenticated, "the request needs the token of the server")
		}
	}
	a, err := next(ctx, q)
	if err != nil {
		if _, ok := status.FromError(err); !ok {
			err = status.Error(codeOf(statusOf(err)), err.Error())
		}
		return nil, err
	}
	return a, nil
}

func codeOf(status int) codes.Code {
	switch status {
	case http.StatusOK:
		return codes.OK
	case http.StatusNotFound:
		return codes.NotFound
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusTooManyRequests, http.StatusRequestEntityTooLarge:
		return codes.ResourceExhausted
	case http.StatusServiceUnavailable:
		return codes.Unavailable
	case http.StatusGatewayTimeout:
		return codes.DeadlineExceeded
	case statusGone:
		return codes.Canceled
	case http.StatusInternalServerError:
		return codes.Internal
	}
	return codes.InvalidArgument
}

// headerOf returns a function that returns the first value of a metadata key of a request, or "".
func headerOf(ctx context.Context) func(name string) string {
	return func(name string) string {
		if list := metadata.ValueFromIncomingContext(ctx, name); len(list) > 0 {
			return list[0]
		}
		return ""
	}
}

// health implements the health service. The service "" is the server; other names are models.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	server *Server
}

func (h *health) Check(_ context.Context, q *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	ready := h.server.isReady()
	if q.Service != "" {
		_, _, _, err := h.server.find(q.Service, "")
		if statusOf(err) == http.StatusNotFound {
			return nil, err
		}
		ready = err == nil && !h.server.draining.Load()
	}
	a := &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}
	if ready {
		a.Status = grpc_health_v1.HealthCheckResponse_SERVING
	}
	return a, nil
}

type service struct {
	inference.UnimplementedGRPCInferenceServiceServer
	server *Server
}

func (v *service) ServerLive(context.Context, *inference.ServerLiveRequest) (*inference.ServerLiveResponse, error) {
	return &inference.ServerLiveResponse{Live: true}, nil
}

func (v *service) ServerReady(context.Context, *inference.ServerReadyRequest) (*inference.ServerReadyResponse, error) {
	return &inference.ServerReadyResponse{Ready: v.server.isReady()}, nil
}

func (v *service) ModelReady(_ context.Context, q *inference.ModelReadyRequest) (*inference.ModelReadyResponse, error) {
	_, _, _, err := v.server.find(q.Name, q.Version)
	if statusOf(err) == http.StatusNotFound {
		return nil, err
	}
	return &inference.ModelReadyResponse{Ready: err == nil && !v.server.draining.Load()}, nil
}

func (v *service) ServerMetadata(context.Context, *inference.ServerMetadataRequest) (*inference.ServerMetadataResponse, error) {
	return &inference.ServerMetadataResponse{Name: serverName, Version: version(), Extensions: extensions}, nil
}

func (v *service) ModelMetadata(_ context.Context, q *inference.ModelMetadataRequest) (*inference.ModelMetadataResponse, error) {
	_, _, m, err := v.server.find(q.Name, q.Version)
	if err != nil {
		return nil, err
	}
	describe := func(list []*untyped.Port) []*inference.ModelMetadataResponse_TensorMetadata {
		var out []*inference.ModelMetadataResponse_TensorMetadata
		for _, p := range list {
			out = append(out, &inference.ModelMetadataResponse_TensorMetadata{Name: p.Name, Datatype: datatypeOf(p.DType), Shape: wide(p.Extents)})
		}
		return out
	}
	return &inference.ModelMetadataResponse{Name: m.Label, Versions: []string{modelVersion}, Platform: serverName, Inputs: describe(m.In), Outputs: describe(m.Out)}, nil
}

func wide(list []int) []int64 {
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}

func (v *service) RepositoryIndex(_ context.Context, q *inference.RepositoryIndexRequest) (*inference.RepositoryIndexResponse, error) {
	a := &inference.RepositoryIndexResponse{}
	for _, m := range v.server.index(q.Ready) {
		a.Models = append(a.Models, &inference.RepositoryIndexResponse_ModelIndex{Name: m.Name, Version: m.Version, State: m.State, Reason: m.Reason})
	}
	return a, nil
}

func (v *service) RepositoryModelLoad(_ context.Context, q *inference.RepositoryModelLoadRequest) (*inference.RepositoryModelLoadResponse, error) {
	return &inference.RepositoryModelLoadResponse{}, v.server.change(q.ModelName, true)
}

func (v *service) RepositoryModelUnload(_ context.Context, q *inference.RepositoryModelUnloadRequest) (*inference.RepositoryModelUnloadResponse, error) {
	return &inference.RepositoryModelUnloadResponse{}, v.server.change(q.ModelName, false)
}

func (v *service) ModelInfer(ctx context.Context, q *inference.ModelInferRequest) (*inference.ModelInferResponse, error) {
	start := time.Now()
	e := &exchange{protocol: "grpc", path: inference.GRPCInferenceService_ModelInfer_FullMethodName, status: http.StatusOK}
	address := ""
	if p, ok := peer.FromContext(ctx); ok {
		address = p.Addr.String()
	}
	e.client = v.server.clientOf(address, headerOf(ctx))
	header, _ := metadata.FromIncomingContext(ctx)
	ctx, end := v.server.traced(ctx, carrier(header), e)
	defer end()
	a, err := v.infer(ctx, q, e)
	e.err, e.took = err, time.Since(start)
	e.status = statusOf(err)
	v.server.meter.request(e)
	e.log(ctx, v.server.options.Log)
	return a, err
}

func (v *service) infer(ctx context.Context, q *inference.ModelInferRequest, e *exchange) (*inference.ModelInferResponse, error) {
	s := v.server
	_, _, m, err := s.find(q.ModelName, q.ModelVersion)
	if err != nil {
		return nil, err
	}
	e.model = m.Label
	if err := s.enter(e.client); err != nil {
		return nil, err
	}
	defer s.leave(e.client)
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	request, err := requestOf(m, q)
	if err != nil {
		return nil, err
	}
	for i := range request.in {
		e.received += int64(len(request.in[i].Data))
	}
	j, err := s.infer(ctx, request, e.client, q.ModelVersion)
	e.note(j)
	if err != nil {
		return nil, err
	}
	a := request.message(j.out)
	for _, data := range a.RawOutputContents {
		e.sent += int64(len(data))
	}
	return a, nil
}

func requestOf(m *untyped.Method, q *inference.ModelInferRequest) (*request, error) {
	out := &request{method: m, id: q.Id, in: make([]untyped.Tensor, len(m.In))}
	if err := eachParameter(q.Parameters, out.parameter); err != nil {
		return nil, err
	}
	raw := len(q.RawInputContents) > 0
	if raw && len(q.RawInputContents) != len(q.Inputs) {
		return nil, badRequest("%d raw_input_contents for %d inputs", len(q.RawInputContents), len(q.Inputs))
	}
	d := &decoder{method: m, given: make([]bool, len(m.In))}
	for k, input := range q.Inputs {
		i, err := d.find(input.GetName())
		if err != nil {
			return nil, err
		}
		p, x := m.In[i], &out.in[i]
		switch {
		case d.given[i]:
			return nil, badRequest("input %q occurs twice", p.Name)
		case input.Datatype != datatypeOf(p.DType):
			return nil, badRequest("input %q has datatype %q, want %q", p.Name, input.Datatype, datatypeOf(p.DType))
		case len(input.Shape) > maxRank:
			return nil, badRequest("a shape has more than %d dimensions", maxRank)
		case raw == (input.Contents != nil):
			return nil, badRequest("input %q needs either contents or raw_input_contents", p.Name)
		}
		d.given[i] = true
		x.Port, x.Shape = p, make([]int, len(input.Shape))
		for axis, n := range input.Shape {
			if n < 0 || int64(int(n)) != n {
				return nil, badRequest("input %q: a dimension is %d", p.Name, n)
			}
			x.Shape[axis] = int(n)
		}
		if raw {
			err = setBinary(x, aligned(q.RawInputContents[k]))
		} else {
			err = setContents(x, input.Contents)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, ok := range d.given {
		if !ok {
			return nil, badRequest("input %q is missing", m.In[i].Name)
		}
	}
	for _, o := range q.Outputs {
		w := wanted{index: -1}
		for i, p := range m.Out {
			if p.Name == o.GetName() {
				w.index = i
			}
		}
		if w.index < 0 {
			return nil, badRequest("model %q has no output %q", m.Label, o.GetName())
		}
		out.wanted = append(out.wanted, w)
	}
	return out, checkShapes(out.in)
}

func aligned(data []byte) []byte {
	out := untyped.Alloc(len(data))
	copy(out, data)
	return out
}

func eachParameter(list map[string]*inference.InferParameter, set func(name string, v any) error) error {
	for name, p := range list {
		var v any
		switch c := p.GetParameterChoice().(type) {
		case *inference.InferParameter_BoolParam:
			v = c.BoolParam
		case *inference.InferParameter_Int64Param:
			v = c.Int64Param
		case *inference.InferParameter_Uint64Param:
			v = int64(min(c.Uint64Param, math.MaxInt64))
		case *inference.InferParameter_StringParam:
			v = c.StringParam
		case *inference.InferParameter_DoubleParam:
			v = c.DoubleParam
		}
		if err := set(name, v); err != nil {
			return err
		}
	}
	return nil
}

// setContents sets the elements of a tensor from the list of c for the tensor's datatype.
func setContents(x *untyped.Tensor, c *inference.InferTensorContents) error {
	n, err := untyped.Elements(x.Shape, x.Port.Size)
	if err != nil {
		return badRequest("input %q: %v", x.Port.Name, err)
	}
	have, fits := 0, true
	switch x.Port.DType {
	case "string":
		for _, text := range c.BytesContents {
			x.Texts = append(x.Texts, string(text))
		}
		have = len(x.Texts)
	case "bool":
		have = len(c.BoolContents)
		x.Data = untyped.Alloc(have)
		for i, b := range c.BoolContents {
			if b {
				x.Data[i] = 1
			}
		}
	case "i8", "i16", "i32":
		have = len(c.IntContents)
		x.Data = untyped.Alloc(have * x.Port.Size)
		for i, v := range c.IntContents {
			least := int32(-1) << (8*x.Port.Size - 1)
			fits = fits && v >= least && v <= ^least
			untyped.Store(x.Data[i*x.Port.Size:], x.Port.Size, uint64(v))
		}
	case "u8", "u16", "u32":
		have = len(c.UintContents)
		x.Data = untyped.Alloc(have * x.Port.Size)
		for i, v := range c.UintContents {
			fits = fits && uint64(v)>>(8*x.Port.Size) == 0
			untyped.Store(x.Data[i*x.Port.Size:], x.Port.Size, uint64(v))
		}
	case "i64":
		have = len(c.Int64Contents)
		x.Data = copied(c.Int64Contents, 8)
	case "u64":
		have = len(c.Uint64Contents)
		x.Data = copied(c.Uint64Contents, 8)
	case "f32":
		have = len(c.Fp32Contents)
		x.Data = copied(c.Fp32Contents, 4)
	case "f64":
		have = len(c.Fp64Contents)
		x.Data = copied(c.Fp64Contents, 8)
	default:
		return badRequest("input %q: %s has no contents in the protocol; use raw_input_contents", x.Port.Name, datatypeOf(x.Port.DType))
	}
	if !fits {
		return badRequest("input %q has a number that is not of type %s", x.Port.Name, datatypeOf(x.Port.DType))
	}
	if have != n {
		return badRequest("input %q has %d elements of data, want %d for shape %v", x.Port.Name, have, n, x.Shape)
	}
	return nil
}

func copied[T int64 | uint64 | float32 | float64](list []T, size int) []byte {
	data := untyped.Alloc(len(list) * size)
	copy(untyped.View[T](data), list)
	return data
}

// message returns the response to a request, with raw tensors.
func (q *request) message(out []untyped.Tensor) *inference.ModelInferResponse {
	list := q.wanted
	if len(list) == 0 {
		for i := range out {
			list = append(list, wanted{index: i})
		}
	}
	a := &inference.ModelInferResponse{ModelName: q.method.Label, ModelVersion: modelVersion, Id: q.id}
	for _, w := range list {
		x := &out[w.index]
		a.Outputs = append(a.Outputs, &inference.ModelInferResponse_InferOutputTensor{Name: x.Port.Name, Datatype: datatypeOf(x.Port.DType), Shape: wide(x.Shape)})
		raw := x.Data
		if untyped.BigEndian || x.Port.IsText() {
			raw = appendBinary(nil, x)
		}
		if raw == nil {
			raw = []byte{}
		}
		a.RawOutputContents = append(a.RawOutputContents, raw)
	}
	return a
}

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// raw is a codec for messages that are encoded already.
type raw struct{}

var _ encoding.CodecV2 = raw{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// unary holds the times of calls over one connection. Each call waits for the answer to the one before.
type unary struct {
	Least, Median time.Duration
	// mean time of Forward in a call, which the server measures
	Forward time.Duration
	// mean processor time of the server per call, minus Forward
	Processor time.Duration
}

// over returns the median time of a call minus Forward.
func (u unary) over() time.Duration { return u.Median - u.Forward }

// oneByOne measures n calls of burngen's server of digits. It first makes n/10 calls that do not count.
func oneByOne(v *server, n int, call func() error) (unary, error) {
	var u unary
	for range n / 10 {
		if err := call(); err != nil {
			return u, err
		}
	}
	before, err := v.metrics()
	if err != nil {
		return u, err
	}
	busy, err := v.cpu()
	if err != nil {
		return u, err
	}
	times := make([]time.Duration, n)
	for i := range times {
		begun := time.Now()
		if err := call(); err != nil {
			return u, err
		}
		times[i] = time.Since(begun)
	}
	end, err := v.cpu()
	if err != nil {
		return u, err
	}
	after, err := v.metrics()
	if err != nil {
		return u, err
	}
	delta := func(name string) float64 { return after[name] - before[name] }
	seconds := delta(`burngen_compute_seconds_sum{model="digits"}`) / delta(`burngen_compute_seconds_count{model="digits"}`)
	slices.Sort(times)
	u.Least, u.Median, u.Forward = times[0], times[n/2], time.Duration(seconds*1e9)
	u.Processor = (end-busy)/time.Duration(n) - u.Forward
	return u, nil
}

// grpcCall connects to a server and calls ModelInfer once. `first` holds the raw outputs of this call. The function
// `call` repeats the call on the same connection, and `close` ends the connection.
func grpcCall(address string, message []byte) (call func() error, first [][]byte, close func() error, err error) {
	c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, nil, err
	}
	var answer []byte
	call = func() error {
		return c.Invoke(context.Background(), "/inference.GRPCInferenceService/ModelInfer", &message, &answer, grpc.ForceCodecV2(raw{}))
	}
	if err := call(); err != nil {
		c.Close()
		return nil, nil, nil, fmt.Errorf("gRPC: %w", err)
	}
	first, err = rawOutputs(answer)
	if err != nil {
		c.Close()
		return nil, nil, nil, err
	}
	return call, first, c.Close, nil
}

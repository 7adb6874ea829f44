package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
)

// measureServer measures the server of digits without ONNX Runtime: the cost of gRPC, and the effects of new weights,
// SIGTERM and a long load.
func (p *page) measureServer(program string, o options) error {
	in, err := inputsOf(program, "digits")
	if err != nil {
		return err
	}
	request := restRequest("digits", in)
	port, err := freePort()
	if err != nil {
		return err
	}
	other, err := freePort()
	if err != nil {
		return err
	}
	folder := filepath.Join("out", "serve", "raw")
	if err := execute(append(slices.Clone(o.burngen), cases[0].model, "-o", folder, "-weights-keep", "raw")); err != nil {
		return err
	}
	command := []string{program, "-http", "127.0.0.1:" + port, "-grpc", "127.0.0.1:" + other, "-log", "off", "-repository", "-weights", filepath.Join(folder, "digits.safetensors")}
	v, err := startServer(command, "127.0.0.1:"+port, request)
	if err != nil {
		return err
	}
	defer v.process.Process.Kill()
	if err := p.measureCalls(v, "127.0.0.1:"+other, request, grpcRequest("digits", in)); err != nil {
		return err
	}
	if o.soak > 0 {
		if p.soaking, err = soak(v, request, 8, o.soak); err != nil {
			return err
		}
	}
	p.swapping, err = swap(v, request, 8, 100)
	return err
}

func (p *page) measureCalls(v *server, grpcAddress string, request, message []byte) error {
	c, err := dial(v.address)
	if err != nil {
		return err
	}
	defer c.Close()
	call, first, end, err := grpcCall(grpcAddress, message)
	if err != nil {
		return err
	}
	defer end()
	r, err := c.call(request)
	if err != nil {
		return err
	}
	want, err := outputs(r.body, r.head)
	if err != nil {
		return err
	}
	if len(first) != len(want) || !bytes.Equal(first[0], want[0].Data) {
		return fmt.Errorf("gRPC and REST answer differently")
	}
	rest, err := oneByOne(v, 5000, func() error {
		_, err := c.call(request)
		return err
	})
	if err != nil {
		return err
	}
	p.rest = &rest
	grpc, err := oneByOne(v, 5000, call)
	p.grpc = &grpc
	return err
}

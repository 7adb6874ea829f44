// Package cuda is the target for GPUs of NVIDIA. Generated packages have kernels in PTX and use the driver of CUDA.
// It does not know how kernels are made.
package cuda

import (
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir/kernel"
)

// Target returns the target of NVIDIA GPUs, without a device.
func Target() gpu.Target {
	return gpu.Target{Language: gpu.Language{
		Name: "cuda", Driver: "github.com/burngen/burngen/runtime/cuda", File: "kernels.ptx", Matrices: true,
		Pipelined: &gpu.Pipelined{File: "kernels_sm90.ptx", Capability: "9.0", Shared: ptx.Dynamic},
		Write: func(list ...*kernel.Kernel) ([]byte, error) {
			text, err := ptx.Write(list...)
			return []byte("// " + emit.Header + "\n\n" + text), err
		},
	}}
}

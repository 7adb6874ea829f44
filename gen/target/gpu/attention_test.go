package gpu_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir/pass"
)

// attentionLayer is a layer whose heads of 64 elements are columns of products: 2 heads of queries share the keys and
// values of one.
const attentionLayer = `
weight wq : f32[32,128]
weight wk : f32[32,64]
weight wv : f32[32,64]
weight mask : f32[130,130]

func @forward(%x: f32[130,32]) -> (y: f32[130,128]) {
  %wq = load {name="wq"} : f32[32,128]
  %wk = load {name="wk"} : f32[32,64]
  %wv = load {name="wv"} : f32[32,64]
  %mask = load {name="mask"} : f32[130,130]
  %q = mat_mul %x, %wq : f32[130,128]
  %k = mat_mul %x, %wk : f32[130,64]
  %v = mat_mul %x, %wv : f32[130,64]
  %q4 = reshape %q {shape=[1,130,2,64]} : f32[1,130,2,64]
  %k4 = reshape %k {shape=[1,130,1,64]} : f32[1,130,1,64]
  %v4 = reshape %v {shape=[1,130,1,64]} : f32[1,130,1,64]
  %qh = transpose %q4 {perm=[0,2,1,3]} : f32[1,2,130,64]
  %kh = transpose %k4 {perm=[0,2,1,3]} : f32[1,1,130,64]
  %vh = transpose %v4 {perm=[0,2,1,3]} : f32[1,1,130,64]
  %a = attention ATTRIBUTES : f32[1,2,130,64]
  %b = transpose %a {perm=[0,2,1,3]} : f32[1,130,2,64]
  %c = reshape %b {shape=[130,128]} : f32[130,128]
  %y = relu %c : f32[130,128]
  return %y
}
`

// TestNarrowAttention computes attentions with kernels of warps and with pipelined kernels: causal, and with a mask and capped scores.
func TestNarrowAttention(t *testing.T) {
	for _, attributes := range []string{
		"%qh, %kh, %vh {scale=0.125 before=-1 after=0}",
		"%qh, %kh, %vh, %mask {scale=0.125 softcap=2 before=-1 after=-1}",
	} {
		for _, p := range []gpu.Precision{gpu.F16, gpu.BF16} {
			text := strings.Replace(attentionLayer, "ATTRIBUTES", attributes, 1)
			agreesRounded(t, multiplying(p, gpu.Interpreter{}), text)
			m := agreesRounded(t, pipelining(p, gpu.Interpreter{Pipelined: true}), text)
			f, err := program.Compile(m, pass.Forward, pipelining(p, nil))
			if err != nil {
				t.Fatal(err)
			}
			fast := false
			for _, s := range f.Steps {
				l, ok := s.(*gpu.Launch)
				fast = fast || ok && l.Faster != nil && strings.HasPrefix(l.Faster.Kernel.Name, "attend")
			}
			if !fast {
				t.Errorf("%s %s: no pipelined kernel computes the attention:\n%s", p, attributes, m)
			}
		}
	}
}

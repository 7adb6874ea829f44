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

// trainedLayer computes the gradients of an attention's operands. The 2 heads of queries share the keys and values of one.
const trainedLayer = `
weight wq : f32[32,128]
weight wk : f32[32,64]
weight wv : f32[32,64]

func @forward(%x: f32[130,32]) -> (y: f32[130,32]) {
  %wq = load {name="wq"} : f32[32,128]
  %wk = load {name="wk"} : f32[32,64]
  %wv = load {name="wv"} : f32[32,64]
  %q = mat_mul %x, %wq : f32[130,128]
  %k = mat_mul %x, %wk : f32[130,64]
  %v = mat_mul %x, %wv : f32[130,64]
  %q4 = reshape %q {shape=[1,130,2,64]} : f32[1,130,2,64]
  %k4 = reshape %k {shape=[1,130,1,64]} : f32[1,130,1,64]
  %v4 = reshape %v {shape=[1,130,1,64]} : f32[1,130,1,64]
  %qh = transpose %q4 {perm=[0,2,1,3]} : f32[1,2,130,64]
  %kh = transpose %k4 {perm=[0,2,1,3]} : f32[1,1,130,64]
  %vh = transpose %v4 {perm=[0,2,1,3]} : f32[1,1,130,64]
  %a, %s = attention_training %qh, %kh, %vh {scale=0.125 before=-1 after=0} : f32[1,2,130,64], f32[1,2,130]
  %dq, %dk, %dv = attention_gradient %qh, %kh, %vh, %qh, %a, %s {scale=0.125 before=-1 after=0} : f32[1,2,130,64], f32[1,1,130,64], f32[1,1,130,64]
  %q3 = transpose %dq {perm=[0,2,1,3]} : f32[1,130,2,64]
  %k3 = transpose %dk {perm=[0,2,1,3]} : f32[1,130,1,64]
  %v3 = transpose %dv {perm=[0,2,1,3]} : f32[1,130,1,64]
  %q2 = reshape %q3 {shape=[130,128]} : f32[130,128]
  %k2 = reshape %k3 {shape=[130,64]} : f32[130,64]
  %v2 = reshape %v3 {shape=[130,64]} : f32[130,64]
  %tq = transpose %wq {perm=[1,0]} : f32[128,32]
  %tk = transpose %wk {perm=[1,0]} : f32[64,32]
  %tv = transpose %wv {perm=[1,0]} : f32[64,32]
  %yq = mat_mul %q2, %tq : f32[130,32]
  %yk = mat_mul %k2, %tk : f32[130,32]
  %yv = mat_mul %v2, %tv : f32[130,32]
  %yqk = add %yq, %yk : f32[130,32]
  %y = add %yqk, %yv : f32[130,32]
  return %y
}
`

// TestTrainedAttention computes gradients of attentions with kernels of warps and with pipelined kernels. In f32,
// operators on all scores compute them.
func TestTrainedAttention(t *testing.T) {
	for _, p := range []gpu.Precision{gpu.F16, gpu.BF16} {
		agreesRounded(t, multiplying(p, gpu.Interpreter{}), trainedLayer)
		m := agreesRounded(t, pipelining(p, gpu.Interpreter{Pipelined: true}), trainedLayer)
		f, err := program.Compile(m, pass.Forward, pipelining(p, nil))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range f.Steps {
			if l, ok := s.(*gpu.Launch); ok && l.Faster != nil && strings.HasPrefix(l.Faster.Kernel.Name, "attend") {
				names = append(names, l.Faster.Kernel.Name)
			}
		}
		if got := strings.Join(names, " "); got != "attend attend_queries attend_keys" {
			t.Errorf("%s: the pipelined kernels of the attention are %q:\n%s", p, got, m)
		}
	}
	m := lowered(t, multiplying(gpu.F32, nil), parsed(t, trainedLayer))
	if text := m.String(); strings.Contains(text, "attend_gradient") {
		t.Errorf("f32 has a kernel of the gradient:\n%s", text)
	}
}

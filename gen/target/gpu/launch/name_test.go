package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestJoined bounds names. A long name has the first operators, and the number of the others.
func TestJoined(t *testing.T) {
	for _, c := range []struct {
		want      string
		operators []string
	}{
		{"add", []string{"add"}},
		{"conv3x3_bias_relu", []string{"conv3x3", "bias", "relu"}},
		{"a_" + strings.Repeat("b", maxName-2), []string{"a", strings.Repeat("b", maxName-2)}},
		{"a_and_1_more", []string{"a", strings.Repeat("b", maxName-1)}},
		{strings.Repeat("mul_", 9) + "and_11_more", slices.Repeat([]string{"mul"}, 20)},
		{strings.Repeat("long", 20), []string{strings.Repeat("long", 20)}},
		{strings.Repeat("long", 20) + "_and_1_more", []string{strings.Repeat("long", 20), "add"}},
	} {
		if got := joined(c.operators...); got != c.want {
			t.Errorf("%q: %q, want %q", c.operators, got, c.want)
		}
	}
}

// TestNames names kernels after what they compute, in order. Of the kernels of a node, only the one that stores the
// result is named after the operators that are fused with the node.
func TestNames(t *testing.T) {
	for body, want := range map[string]string{
		`%y = mat_mul %x, %w : f32[4,4]`: "product",
		`%y = pointwise %x : f32[4,4]  region (%a: f32[]) {
    %b = constant {value=f32[](2)} : f32[]
    %c = mul %a, %b : f32[]
    %d = tanh %c : f32[]
    return %d
  }`: "mul_tanh",
		`%y = pointwise %x : f32[4,4]  region (%a: f32[]) {
    return %a
  }`: "pointwise_copy",
		`%h = pointwise %x : f16[4,4]  region (%a: f32[]) {
    %b = cast %a {to=f16} : f16[]
    return %b
  }
  %y = pointwise %h : f32[4,4]  region (%a1: f16[]) {
    %b1 = cast %a1 {to=f32} : f32[]
    %c1 = relu %b1 : f32[]
    return %c1
  }`: "pointwise_cast pointwise_relu",
		`%y = pointwise %x, %w : f32[4,4]  region (%a: f32[], %b: f32[]) {
    %c = mul %a, %b : f32[]
    return %c
  }`: "pointwise_mul",
		`%y = fusion %x, %w {own=2} : f32[4,4]  region (%p: f32[4,4], %q: f32[4,4]) {
    %o = mat_mul %p, %q : f32[4,4]
    %r = pointwise %o : f32[4,4]  region (%a: f32[]) {
      %b = relu %a : f32[]
      return %b
    }
    return %r
  }`: "product_relu",
		`%y = fusion %x, %w {own=2} : f32[4,4]  region (%p: f32[4,4], %q: f32[4,4]) {
    %s = softmax %p {axis=1} : f32[4,4]
    %t = strided_copy %q {shape=[4,4] strides=[1,4]} : f32[4,4]
    %r = pointwise %s, %t : f32[4,4]  region (%a: f32[], %b: f32[]) {
      %c = sub %a, %b : f32[]
      return %c
    }
    return %r
  }`: "softmax_sums softmax_copy_sub",
		`%y = fusion %x {own=1} : f32[4,4]  region (%p: f32[4,4]) {
    %t = strided_copy %p {shape=[4,4] strides=[1,4]} : f32[4,4]
    %r = pointwise %t : f32[4,4]  region (%a: f32[]) {
      %b = neg %a : f32[]
      return %b
    }
    return %r
  }`: "copy_neg",
		`%v = conv %k, %l, %m {window={kernel=[3,1] pads=[1,0,1,0]} group=1} : f32[1,4,5,5]
  %y = conv %k, %l {window={kernel=[3,1] pads=[1,0,1,0]} group=1} : f32[1,4,5,5]`: "conv3x1_bias conv3x1",
	} {
		m, err := ir.Parse(`func @f(%x: f32[4,4], %w: f32[4,4], %k: f32[1,2,5,5], %l: f32[4,2,3,1], %m: f32[4]) -> (z: f32[4,4]) {
  `+body+`
  return %x
}`, op.Set)
		if err != nil {
			t.Errorf("%v\n%s", err, body)
			continue
		}
		var names []string
		for _, n := range m.Funcs[0].Nodes {
			launches, err := Of(n, Options{})
			if err != nil {
				t.Error(err)
			}
			for _, l := range launches {
				names = append(names, l.Kernel.Name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s, want %s:\n%s", got, want, body)
		}
	}
}

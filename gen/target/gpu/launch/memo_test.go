package launch

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// memorable has pairs of nodes that share kernels, and nodes that do not.
const memorable = `func @f(%x: f32[4,4], %y: f32[4,4], %z: f32[N,4], %z2: f32[M,4], %s: string[4]) -> (r: f32[4,4]) {
  %a = mat_mul %x, %y : f32[4,4]
  %a2 = mat_mul %y, %a : f32[4,4]
  %a3 = mat_mul %x, %x : f32[4,4]
  %b = mat_mul %z, %x : f32[N,4]
  %b2 = mat_mul %z2, %x : f32[M,4]
  %c = softmax %x {axis=1} : f32[4,4]
  %c2 = softmax %c {axis=1} : f32[4,4]
  %c3 = softmax %c {axis=0} : f32[4,4]
  %d = pointwise %x, %y : f32[4,4]  region (%p: f32[], %q: f32[]) {
    %p1 = constant {value=f32[](2)} : f32[]
    %p2 = mul %p, %p1 : f32[]
    %p3 = sub %p2, %q : f32[]
    return %p3
  }
  %d2 = pointwise %y, %x : f32[4,4]  region (%q1: f32[], %q2: f32[]) {
    %q3 = constant {value=f32[](2)} : f32[]
    %q4 = mul %q1, %q3 : f32[]
    %q5 = sub %q4, %q2 : f32[]
    return %q5
  }
  %d3 = pointwise %x, %y : f32[4,4]  region (%r1: f32[], %r2: f32[]) {
    %r3 = constant {value=f32[](3)} : f32[]
    %r4 = mul %r1, %r3 : f32[]
    %r5 = sub %r4, %r2 : f32[]
    return %r5
  }
  %e = fusion %x, %d {own=2} : f32[4,4]  region (%s1: f32[4,4], %s2: f32[4,4]) {
    %s3 = mat_mul %s1, %s2 : f32[4,4]
    %s4 = pointwise %s3 : f32[4,4]  region (%s5: f32[]) {
      %s6 = relu %s5 : f32[]
      return %s6
    }
    return %s4
  }
  %e2 = fusion %d, %e {own=2} : f32[4,4]  region (%t1: f32[4,4], %t2: f32[4,4]) {
    %t3 = mat_mul %t1, %t2 : f32[4,4]
    %t4 = pointwise %t3 : f32[4,4]  region (%t5: f32[]) {
      %t6 = relu %t5 : f32[]
      return %t6
    }
    return %t4
  }
  %g = string_concat %s, %s : string[4]
  %g2 = string_concat %s, %s : string[4]
  return %e2
}
`

// TestMemo asserts that a Memo returns what Of returns, and that it builds the kernels of equal nodes once.
func TestMemo(t *testing.T) {
	m, err := ir.Parse(memorable, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []Options{{}, {TF32: true, Matrices: true, Pipelined: true}} {
		memo := &Memo{}
		for range 2 {
			for _, n := range m.Funcs[0].Nodes {
				want, failed := Of(n, by)
				got, err := memo.Of(n, by)
				if (err != nil) != (failed != nil) || len(got) != len(want) {
					t.Fatalf("%s: %d launches, error %v; want %d, %v", n.Text(), len(got), err, len(want), failed)
				}
				for i := range got {
					compareLaunches(t, n, &got[i], &want[i])
				}
			}
		}
		const distinct = 10
		if len(memo.known) != distinct {
			t.Errorf("%d nodes were built, want %d", len(memo.known), distinct)
		}
	}
}

func compareLaunches(t *testing.T, n *ir.Node, got, want *kernels.Launch) {
	t.Helper()
	if got.Kernel.String() != want.Kernel.String() || fmt.Sprint(got.Grid) != fmt.Sprint(want.Grid) || len(got.Args) != len(want.Args) {
		t.Fatalf("%s: got\n%s\nwant\n%s", n.Text(), got.Kernel, want.Kernel)
	}
	for i, a := range got.Args {
		b := want.Args[i]
		if a.Read != b.Read || a.Write != b.Write || (a.Scratch == nil) != (b.Scratch == nil) || !a.Dim.Equal(b.Dim) || a.Wide != b.Wide {
			t.Errorf("%s: argument %d is %+v, want %+v", n.Text(), i, a, b)
		}
	}
	if (got.Faster == nil) != (want.Faster == nil) {
		t.Fatalf("%s: only one has a faster launch", n.Text())
	}
	if got.Faster != nil {
		compareLaunches(t, n, got.Faster, want.Faster)
	}
}

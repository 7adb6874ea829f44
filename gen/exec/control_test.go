package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// controls are functions with control flow. Their operands are drawn: x has small numbers, and the
// runs determine the others.
var controls = []struct {
	name, text string
	// runs are the values of n and flag, and N.
	runs []controlRun
}{
	{"a branch", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2]) {
  %y = if %flag : f32[N,2]
    region () {
      %a = neg %x : f32[N,2]
      return %a
    }
    region () {
      return %x
    }
  return %y
}`, runs(0, 1)},
	{"branches of different extents", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[rows,2]) {
  %y = if %flag {extents=[{symbol="rows"}]} : f32[rows,2]
    region () {
      %a = concat %x, %x {axis=0} : f32[2*N,2]
      return %a
    }
    region () {
      return %x
    }
  %z = neg %y : f32[rows,2]
  return %z
}`, runs(0, 1)},
	{"a loop that counts", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2], s: f32[3,N,2]) {
  %y, %s = loop %x {counted=true trips=3 scans=[f32[N,2]]} : f32[N,2], f32[3,N,2]
    region (%i: i64[], %go: bool[], %v: f32[N,2]) {
      %k = cast %i {to=f32} : f32[]
      %w = add %v, %k : f32[N,2]
      %m = mul %w, %x : f32[N,2]
      return %go, %m, %w
    }
  return %y, %s
}`, runs(0, 0)},
	{"a loop that ends early", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: i64[], s: f32[t,N,2]) {
  %zero = constant {value=i64[](0)} : i64[]
  %y, %s = loop %n, %flag, %zero {scans=[f32[N,2]] extents=[{symbol="t" result=1}]} : i64[], f32[t,N,2]
    region (%i: i64[], %go: bool[], %v: i64[]) {
      %one = constant {value=i64[](1)} : i64[]
      %four = constant {value=i64[](4)} : i64[]
      %w = add %v, %one : i64[]
      %more = less %w, %four : bool[]
      %k = cast %v {to=f32} : f32[]
      %row = add %x, %k : f32[N,2]
      return %more, %w, %row
    }
  return %y, %s
}`, runs(0, 9)},
	{"a carried value that grows", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[rows,2]) {
  %y = loop %n, _, %x {varying=["r"] extents=[{symbol="rows"}]} : f32[rows,2]
    region (%i: i64[], %go: bool[], %v: f32[r,2]) {
      %w = concat %v, %x {axis=0} : f32[N+r,2]
      %u = neg %w : f32[N+r,2]
      return %go, %u
    }
  return %y
}`, runs(0, 4)},
	{"rows of an extent that is found inside", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (s: i64[t,2,c]) {
  %s = loop %n, %flag {scans=[i64[2,c]] extents=[{symbol="t"}, {symbol="c" axis=2}]} : i64[t,2,c]
    region (%i: i64[], %go: bool[]) {
      %z = non_zero %x {count="k"} : i64[2,k]
      return %go, %z
    }
  return %s
}`, runs(0, 3)},
	{"a loop in a loop in a branch", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2]) {
  %y = if %flag : f32[N,2]
    region () {
      %a = loop %n, _, %x : f32[N,2]
        region (%i: i64[], %go: bool[], %v: f32[N,2]) {
          %b = loop %i, _, %v : f32[N,2]
            region (%j: i64[], %on: bool[], %u: f32[N,2]) {
              %k = cast %j {to=f32} : f32[]
              %w = add %u, %k : f32[N,2]
              return %on, %w
            }
          %c = add %b, %x : f32[N,2]
          return %go, %c
        }
      return %a
    }
    region () {
      return %x
    }
  return %y
}`, runs(0, 4)},
	{"a sequence that grows", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: seq<f32[?,2]>, l: i64[]) {
  %e = sequence_construct {d_type=f32} : seq<f32>
  %y = loop %n, _, %e : seq<f32[?,2]>
    region (%i: i64[], %go: bool[], %v: seq<f32[?,2]>) {
      %k = cast %i {to=f32} : f32[]
      %w = add %x, %k : f32[N,2]
      %u = sequence_insert %v, %w : seq<f32[?,2]>
      return %go, %u
    }
  %l = sequence_length %y : i64[]
  return %y, %l
}`, runs(0, 3)},
	{"carried values that are swapped", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2], z: f32[N,2], u: f32[N,2]) {
  %a = neg %x : f32[N,2]
  %b = exp %x : f32[N,2]
  %y, %z, %u = loop %n, _, %x, %a, %b : f32[N,2], f32[N,2], f32[N,2]
    region (%i: i64[], %go: bool[], %p: f32[N,2], %q: f32[N,2], %r: f32[N,2]) {
      return %go, %q, %r, %p
    }
  return %y, %z, %u
}`, runs(0, 4)},
	{"carried values of different extents that are swapped", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[a,2], z: f32[b,2]) {
  %d = concat %x, %x {axis=0} : f32[2*N,2]
  %y, %z = loop %n, _, %x, %d {varying=["p","q"] extents=[{symbol="a"}, {symbol="b" result=1}]} : f32[a,2], f32[b,2]
    region (%i: i64[], %go: bool[], %v: f32[p,2], %w: f32[q,2]) {
      return %go, %w, %v
    }
  return %y, %z
}`, runs(0, 4)},
	{"a carried value that stays, and rows of it", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2], z: f32[N,2], s: f32[t,N,2], k: i64[c]) {
  %a = neg %x : f32[N,2]
  %y, %z, %s, %k = loop %n, %flag, %x, %a {scans=[f32[N,2],i64[]] extents=[{symbol="t" result=2}, {symbol="c" result=3}]} : f32[N,2], f32[N,2], f32[t,N,2], i64[c]
    region (%i: i64[], %go: bool[], %v: f32[N,2], %w: f32[N,2]) {
      %u = add %v, %w : f32[N,2]
      return %go, %u, %w, %v, %i
    }
  return %y, %z, %s, %k
}`, runs(0, 3)},
	{"carried values that come from around", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2], z: bool[]) {
  %a = neg %x : f32[N,2]
  %y, %z = loop %n, _, %x, %flag : f32[N,2], bool[]
    region (%i: i64[], %go: bool[], %v: f32[N,2], %w: bool[]) {
      %o = not %w : bool[]
      return %go, %a, %o
    }
  return %y, %z
}`, runs(0, 2)},
	{"values from around through several regions", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2], s: f32[N,N,2]) {
  %a = exp %x : f32[N,2]
  %y, %s = loop %x {counted=true trips=N scans=[f32[N,2]]} : f32[N,2], f32[N,N,2]
    region (%i: i64[], %go: bool[], %v: f32[N,2]) {
      %b = add %v, %a : f32[N,2]
      %c = if %flag : f32[N,2]
        region () {
          %d = loop %n, _, %b : f32[N,2]
            region (%j: i64[], %on: bool[], %w: f32[N,2]) {
              %k = add %i, %j : i64[]
              %l = cast %k {to=f32} : f32[]
              %m = add %w, %l : f32[N,2]
              %o = sub %m, %x : f32[N,2]
              return %on, %o
            }
          %e = add %d, %v : f32[N,2]
          return %e
        }
        region () {
          return %a
        }
      return %go, %c, %b
    }
  return %y, %s
}`, runs(0, 3)},
	{"extents from around two loops", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2], z: i64[]) {
  %e = extents {elems=[N+1]} : i64[]
  %m = extents {elems=[2*N,N]} : i64[2]
  %y = loop %n, _, %x : f32[N,2]
    region (%i: i64[], %go: bool[], %v: f32[N,2]) {
      %d = sub %e, %i : i64[]
      %k = cast %d {to=f32} : f32[]
      %w = add %v, %k : f32[N,2]
      return %go, %w
    }
  %z = loop %n, _, %e : i64[]
    region (%j: i64[], %on: bool[], %u: i64[]) {
      %s = reduce %m {kind="sum" axes=[0]} : i64[]
      %t = add %u, %s : i64[]
      return %on, %t
    }
  return %y, %z
}`, runs(0, 3)},
	{"extents of what nodes find, in regions of regions", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: i64[], s: i64[t,3]) {
  %found = non_zero %x {count="k"} : i64[2,k]
  %e = extents {elems=[k]} : i64[]
  %p = extents {elems=[k,k+N,N]} : i64[3]
  %y, %s = loop %n, %flag, %e {scans=[i64[3]] extents=[{symbol="t" result=1}]} : i64[], i64[t,3]
    region (%i: i64[], %go: bool[], %v: i64[]) {
      %a = if %flag : i64[]
        region () {
          %b = loop %v {counted=true trips=2} : i64[]
            region (%j: i64[], %on: bool[], %u: i64[]) {
              %c = add %u, %e : i64[]
              %last = gather %p, %j : i64[]
              %d = add %c, %last : i64[]
              return %on, %d
            }
          return %b
        }
        region () {
          return %e
        }
      %q = add %p, %i : i64[3]
      return %go, %a, %q
    }
  return %y, %s
}`, runs(0, 3)},
	{"extents that differ from trip to trip, in regions of regions", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[rows,2], s: i64[]) {
  %zero = constant {value=i64[](0)} : i64[]
  %y, %s = loop %n, _, %x, %zero {varying=["r"] extents=[{symbol="rows"}]} : f32[rows,2], i64[]
    region (%i: i64[], %go: bool[], %v: f32[r,2], %c: i64[]) {
      %e = extents {elems=[N+2*r]} : i64[]
      %f = extents {elems=[r]} : i64[]
      %w = concat %v, %x {axis=0} : f32[N+r,2]
      %a = if %flag : i64[]
        region () {
          %l = loop %e, _, %c : i64[]
            region (%j: i64[], %on: bool[], %u: i64[]) {
              %m = add %u, %f : i64[]
              %o = add %m, %e : i64[]
              return %on, %o
            }
          return %l
        }
        region () {
          return %e
        }
      return %go, %w, %a
    }
  return %y, %s
}`, runs(0, 3)},
	{"extents of a loop's result in another loop", `func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (z: i64[], q: seq<f32[?,2]>) {
  %y = loop %n, _, %x {varying=["r"] extents=[{symbol="rows"}]} : f32[rows,2]
    region (%i: i64[], %go: bool[], %v: f32[r,2]) {
      %w = concat %v, %x {axis=0} : f32[N+r,2]
      return %go, %w
    }
  %e = extents {elems=[rows-N]} : i64[]
  %list = sequence_construct {d_type=f32} : seq<f32>
  %z, %q = loop %n, _, %e, %list : i64[], seq<f32[?,2]>
    region (%j: i64[], %on: bool[], %u: i64[], %before: seq<f32[?,2]>) {
      %c = add %u, %e : i64[]
      %k = cast %e {to=f32} : f32[]
      %row = add %y, %k : f32[rows,2]
      %after = sequence_insert %before, %row : seq<f32[?,2]>
      return %on, %c, %after
    }
  return %z, %q
}`, runs(0, 3)},
	{"weights inside", `weight w : f32[2,2]

func @forward(%x: f32[N,2], %n: i64[], %flag: bool[]) -> (y: f32[N,2]) {
  %y = loop %n, _, %x : f32[N,2]
    region (%i: i64[], %go: bool[], %v: f32[N,2]) {
      %w = load {name="w"} : f32[2,2]
      %c = constant {value=f32[2](0.5, -1)} : f32[2]
      %p = mat_mul %v, %w : f32[N,2]
      %u = add %p, %c : f32[N,2]
      return %go, %u
    }
  return %y
}`, runs(0, 3)},
}

type controlRun struct {
	n    int64
	flag bool
	rows int
}

// runs covers both values of the flag, trips from low to high, and two extents.
func runs(low, high int64) []controlRun {
	var out []controlRun
	for n := low; n <= high; n++ {
		for _, flag := range []bool{false, true} {
			out = append(out, controlRun{n, flag, 3}, controlRun{n, flag, 0}, controlRun{n, flag, 1})
		}
	}
	return out
}

// Steps of control flow compute what the evaluator does of the model as it was.
func TestControlFlow(t *testing.T) {
	for _, c := range controls {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse(c.text+"\n", op.Set)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range m.Weights {
				shape, _ := w.Type.Static()
				data, err := value.FromSlice(w.Type.DType, shape, []float32{1, 0.5, -0.5, 0.25})
				if err != nil {
					t.Fatal(err)
				}
				w.Data = data.Bytes()
			}
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			model, err := gen.FromModule("control", m.Clone(), gen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f := m.Func("forward")
			for _, r := range c.runs {
				args := []*ir.Tensor{ir.NewTensor(ir.F32, r.rows, 2), ir.Scalar(ir.I64, float64(r.n)), ir.NewTensor(ir.Bool)}
				args[2].SetBool(0, r.flag)
				for i := range args[0].Len() {
					args[0].SetFloat(i, float64(i)-1.5)
				}
				want, err := (&ir.Evaluator{Module: m}).Run(f, args)
				if err != nil {
					t.Fatalf("%+v: %v", r, err)
				}
				got := runModel(t, model, args)
				for i, w := range want {
					if !w.Equal(got[i]) {
						t.Errorf("%+v: result %d is %v, want %v", r, i, got[i], w)
					}
				}
			}
		})
	}
}

// runModel runs a model on tensors and returns its results, containers among them.
func runModel(t *testing.T, m *gen.Model, args []*ir.Tensor) []*ir.Tensor {
	t.Helper()
	var slices []any
	var shapes [][]int
	for _, a := range args {
		slices, shapes = append(slices, value.Slice(a)), append(shapes, a.Shape)
	}
	results, outShapes, err := m.Run(slices, shapes)
	if err != nil {
		t.Fatal(err)
	}
	var out []*ir.Tensor
	for i, v := range m.Forward.IR.Results {
		r, err := value.FromGo(v.Type, outShapes[i], results[i])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// Extents that may be repeated to each other are checked when they are known.
func TestBroadcastIsChecked(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[N], %y: f32[M]) -> (z: f32[max(M,N)]) {
  %z = add %x, %y : f32[max(M,N)]  // sum
  return %z
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gen.FromModule("sum", m, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n, m int
		want string
	}{
		{3, 3, ""},
		{1, 3, ""},
		{3, 1, ""},
		{2, 3, `node "sum": check_dim: axis 0: N broadcast to max(M,N): extent 1 or 3 expected, got 2`},
		{3, 2, `node "sum": check_dim: axis 0: M broadcast to max(M,N): extent 1 or 3 expected, got 2`},
	} {
		_, _, err := model.Run([]any{make([]float32, c.n), make([]float32, c.m)}, [][]int{{c.n}, {c.m}})
		if got := fmt.Sprint(err); err != nil && got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%d and %d: got %v, want %q", c.n, c.m, err, c.want)
		}
	}
}

// A loop without an end stops when its context is done.
func TestLoopsEndWithTheContext(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[2]) -> (y: f32[2]) {
  %y = loop _, _, %x : f32[2]
    region (%i: i64[], %go: bool[], %v: f32[2]) {
      %w = neg %v : f32[2]
      return %go, %w
    }
  return %y
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gen.FromModule("endless", m, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan error)
	go func() {
		_, _, err := model.RunContext(ctx, []any{make([]float32, 2)}, [][]int{{2}})
		done <- err
	}()
	cancel(context.DeadlineExceeded)
	if err := <-done; err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		t.Error(err)
	}
}

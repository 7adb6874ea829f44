package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// parsed returns the function of a module in the text form. The text also lists the weights.
func parsed(t *testing.T, text string) *ir.Func {
	t.Helper()
	m, err := ir.Parse(strings.TrimLeft(text, "\n"), storage.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0]
}

// early tells that all symbols are known before a function runs.
func early(string) bool { return false }

// planned plans a function in the text form whose steps need no scratch memory, and simulates the
// plan.
func planned(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Make(parsed(t, text), early, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, extent := range []int64{0, 1, 2, 7} {
		if err := simulate(p, map[string]int64{"N": extent, "M": 5, "L": 4}, nil); err != nil {
			t.Fatalf("%v\n%s", err, describe(p))
		}
	}
	return p
}

// places lists the places of a function's values, keyed by name. A place is x0 for parameter 0, y1
// for result 1, w for a weight, or the name of a buffer's first value. The offset in elements
// follows.
func places(p *plan.Plan) string {
	var list []string
	for _, n := range p.Func.Nodes {
		for _, v := range n.Results {
			at := p.Places[v]
			where := map[plan.Kind]string{plan.Param: "x", plan.Result: "y", plan.Weight: "w", plan.Tail: "tail "}[at.Kind]
			switch at.Kind {
			case plan.Param, plan.Result:
				where += fmt.Sprint(at.Index)
			case plan.Arena, plan.Tail:
				where += at.Buffer.Name
			}
			if !at.Offset.Equal(dim.Dim{}) {
				where += "+" + at.Offset.String()
			}
			list = append(list, v.Name+":"+where)
		}
	}
	for k, r := range p.Func.Results {
		if !p.Places[r].Same(plan.Place{Kind: plan.Result, Index: k}) {
			list = append(list, fmt.Sprintf("y%d=%s", k, r.Name))
		}
	}
	return strings.Join(list, " ")
}

func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"results are made in the caller's memory": {`
func @f(%x: f32[N,4]) -> (y: f32[N,4], z: f32[N,4]) {
  %a = neg %x : f32[N,4]
  %b = neg %a : f32[N,4]
  return %a, %b
}`, "a:y0 b:y1"},
		"results that are elsewhere are copied": {`
weight "w": f32[4]
func @f(%x: f32[4]) -> (a: f32[4], b: f32[4], c: f32[2,2], d: f32[4], e: f32[4]) {
  %w = load {name="w"} : f32[4]
  %v = reshape %x {shape=[2,2]} : f32[2,2]
  %n = neg %x : f32[4]
  return %x, %w, %v, %n, %n
}`, "w:w v:x0 n:y3 y0=x y1=w y2=v y4=n"},
		"a view of a result is made where the result is": {`
func @f(%x: f32[4]) -> (y: f32[2,2]) {
  %a = neg %x : f32[4]
  %b = reshape %a {shape=[4,1]} : f32[4,1]
  %c = reshape %b {shape=[2,2]} : f32[2,2]
  %d = neg %a : f32[4]
  return %c
}`, "a:y0 b:y0 c:y0 d:d"},
		"two views of a value are results": {`
func @f(%x: f32[4]) -> (y: f32[2,2], z: f32[4,1], a: f32[4]) {
  %a = neg %x : f32[4]
  %b = reshape %a {shape=[2,2]} : f32[2,2]
  %c = reshape %a {shape=[4,1]} : f32[4,1]
  return %b, %c, %a
}`, "a:y2 b:y2 c:y2 y0=b y1=c"},
		"operands that die are overwritten": {`
func @f(%x: f32[N,4]) -> (y: f32[N,4]) {
  %a = neg %x : f32[N,4]
  %b = neg %a : f32[N,4]
  %c = add %b, %b : f32[N,4]
  %d = cast %c {to=i32} : i32[N,4]
  %e = neg %d : i32[N,4]
  %f = cast %e {to=f32} : f32[N,4]
  return %f
}`, "a:a b:a c:a d:a e:a f:y0"},
		"operands that live on are not": {`
func @f(%x: f32[4]) -> (y: f32[4]) {
  %a = neg %x : f32[4]
  %v = reshape %a {shape=[2,2]} : f32[2,2]
  %b = neg %a : f32[4]
  %c = neg %v : f32[2,2]
  %d = reshape %c {shape=[4]} : f32[4]
  %e = add %b, %d : f32[4]
  return %e
}`, "a:a v:a b:b c:a d:a e:y0"},
		"a repeated operand of as many bytes is not": {`
weight "w": f32[2,5]
func @f(%x: f64[5]) -> (y: f32[2,5]) {
  %a = neg %x : f64[5]
  %b = cast %a {to=f64} : f64[5]
  %w = load {name="w"} : f32[2,5]
  %c = pointwise %a, %w : f32[2,5]
    region (%p: f64[], %q: f32[]) {
      %r = cast %p {to=f32} : f32[]
      %s = add %r, %q : f32[]
      return %s
    }
  %d = neg %c : f32[2,5]
  return %d
}`, "a:a b:b w:w c:c d:y0"},
		"a matrix that is its own residual is not": {`
weight "w": f32[1,16,16]
func @f(%x: f32[16,16]) -> (y: f32[16,16]) {
  %w = load {name="w"} : f32[1,16,16]
  %a = neg %x : f32[16,16]
  %b = mat_mul_panels %a, %w, _, %a {n=16} : f32[16,16]
  %c = mat_mul_panels %b, %w, _, %b {n=16} : f32[16,16]
  %d = mat_mul_panels %a, %w, _, %c {n=16} : f32[16,16]
  %e = neg %d : f32[16,16]
  return %e
}`, "w:w a:a b:b c:c d:c e:y0"},
		"parts are made in the whole": {`
func @f(%x: f32[4]) -> (y: f32[12]) {
  %a = neg %x : f32[4]
  %b = neg %a : f32[4]
  %c = concat %b, %a, %b {axis=0} : f32[12]
  %d = neg %c : f32[12]
  return %d
}`, "a:c+4 b:c c:c d:y0"},
		"parts of a result are made in the caller's memory": {`
func @f(%x: f32[4]) -> (y: f32[3,2,2]) {
  %a = neg %x : f32[4]
  %b = neg %a : f32[4]
  %c = concat %b, %a, %x {axis=0} : f32[12]
  %d = reshape %c {shape=[3,2,2]} : f32[3,2,2]
  return %d
}`, "a:y0+4 b:y0 c:y0 d:y0"},
		"what views of them are is made in the whole": {`
func @f(%x: f32[N,2]) -> (y: f32[1,3*N,2]) {
  %a = neg %x : f32[N,2]
  %b = reshape %a {shape=[1,N,2]} : f32[1,N,2]
  %c = concat %b, %b {axis=1} : f32[1,2*N,2]
  %d = concat %c, %b {axis=1} : f32[1,3*N,2]
  %e = neg %d : f32[1,3*N,2]
  return %e
}`, "a:d b:d c:d d:d e:y0"},
		"parts of parts are made in the whole": {`
func @f(%x: f32[4]) -> (y: f32[12]) {
  %a = neg %x : f32[4]
  %b = neg %a : f32[4]
  %c = concat %a, %b {axis=0} : f32[8]
  %d = reshape %c {shape=[8]} : f32[8]
  %e = neg %b : f32[4]
  %f = concat %e, %d {axis=0} : f32[12]
  %g = neg %f : f32[12]
  return %g
}`, "a:f+4 b:f+8 c:f+4 d:f+4 e:f f:f g:y0"},
		"a value is part of the first whole only": {`
func @f(%x: f32[4]) -> (y: f32[8], z: f32[8]) {
  %a = neg %x : f32[4]
  %b = concat %x, %a {axis=0} : f32[8]
  %c = concat %a, %x {axis=0} : f32[8]
  return %b, %c
}`, "a:y0+4 b:y0 c:y1"},
		"memory of other element types is not viewed": {`
func @f(%x: f32[4]) -> (y: i32[4]) {
  %a = bit_cast %x {to=i32} : i32[4]
  %b = neg %a : i32[4]
  %c = bit_cast %b {to=f32} : f32[4]
  %d = neg %c : f32[4]
  %e = bit_cast %d {to=i32} : i32[4]
  return %e
}`, "a:a b:a c:a d:a e:a y0=e"},
		"what is known late is allocated late": {`
func @f(%x: f32[4]) -> (y: i64[1,L], z: i64[1,2*L]) {
  %a = non_zero %x {count="L"} : i64[1,L]
  %b = neg %a : i64[1,L]
  %c = concat %b, %b {axis=1} : i64[1,2*L]
  return %b, %c
}`, "a:tail a b:tail a c:tail c y0=b y1=c"},
		"nothing takes no memory": {`
func @f(%x: f32[0]) -> (y: f32[0]) {
  %a = neg %x : f32[0]
  %b = concat %a, %a {axis=0} : f32[0]
  %c = neg %b : f32[0]
  return %c
}`, "a:b b:b c:y0"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(t, c.text)
			if got := places(p); got != c.want {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, describe(p))
			}
		})
	}
}

func TestModes(t *testing.T) {
	for name, c := range map[string]struct {
		shape string
		mode  plan.Mode
		size  string
	}{
		"constants":                      {"3,5", plan.Static, "128"},
		"a symbol, rounded for one":      {"N,5", plan.Scaled, "128*N"},
		"a symbol and constants apart":   {"N,5]; f32[7", plan.Scaled, "128*N+128"},
		"a symbol and a constant as one": {"N+1,5", plan.Dynamic, "0"},
		"products of symbols":            {"N,M", plan.Dynamic, "0"},
		"several symbols":                {"N]; f32[M", plan.Dynamic, "0"},
		"a power":                        {"N,N", plan.Dynamic, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "func @f("
			shapes := strings.Split("f32["+c.shape+"]", "; ")
			var results, body []string
			for i, s := range shapes {
				text += fmt.Sprintf("%%x%d: %s, ", i, s)
				results = append(results, fmt.Sprintf("y%d: %s", i, s))
				body = append(body, fmt.Sprintf("  %%a%d = exp %%x%d : %s\n  %%b%d = add %%a%d, %%x%d : %s\n  %%c%d = add %%b%d, %%a%d : %s\n", i, i, s, i, i, i, s, i, i, i, s))
			}
			text = strings.TrimSuffix(text, ", ") + ") -> (" + strings.Join(results, ", ") + ") {\n" + strings.Join(body, "") + "  return "
			for i := range shapes {
				text += fmt.Sprintf("%%c%d, ", i)
			}
			p := planned(t, strings.TrimSuffix(text, ", ")+"\n}")
			if p.Mode != c.mode || p.Size.String() != c.size || p.Live.String() != c.size {
				t.Errorf("mode %d of %s bytes, live %s; %d of %s expected", p.Mode, p.Size, p.Live, c.mode, c.size)
			}
		})
	}
}

// TestModeAroundAnArenaThatIsLaidOutLate plans an arena that holds another arena, which is laid out
// once the extents are known. The outer arena must be laid out at that time, too, because the size
// of the inner one is not an extent.
func TestModeAroundAnArenaThatIsLaidOutLate(t *testing.T) {
	m, err := ir.Parse("func @f(%x: f32[N]) -> (y: f32[N]) {\n  %a = exp %x : f32[N]\n  return %a\n}\n", storage.Set)
	if err != nil {
		t.Fatal(err)
	}
	inner := &ir.Value{Name: "inner", Type: ir.TensorOf(ir.U8, dim.Sym("inner.lines").Mul(dim.Const(64)))}
	f := m.Funcs[0]
	p, err := plan.Make(f, early, map[*ir.Node][]*plan.Ref{f.Nodes[0]: {{Value: inner, Access: plan.Scratch}}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode != plan.Dynamic {
		t.Errorf("mode %d of %s bytes", p.Mode, p.Size)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a buffer larger than any": {`
func @f(%x: f32[2305843009213693951]) -> (y: f32[2305843009213693951]) {
  %a = neg %x : f32[2305843009213693951]
  %b = neg %a : f32[2305843009213693951]
  return %b
}`, "overflow"},
		"buffers together larger than any": {`
func @f(%x: f32[1152921504606846976]) -> (y: f32[1152921504606846976]) {
  %a = neg %x : f32[1152921504606846976]
  %b = neg %x : f32[1152921504606846976]
  %c = neg %x : f32[1152921504606846976]
  %d = add %a, %b : f32[1152921504606846976]
  %e = add %c, %d : f32[1152921504606846976]
  return %e
}`, "64-bit"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Make(parsed(t, c.text), early, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v for %v", err, p)
			}
		})
	}
}

// TestWhatIsNotInTheArena asserts that variables hold strings and containers, that values whose
// extents the caller binds late are allocated late, and that a tensor whose shape control flow
// determines is held with its shape.
func TestWhatIsNotInTheArena(t *testing.T) {
	late := func(symbol string) bool { return symbol == "L" }
	f := parsed(t, `
func @f[L](%x: string[4], %s: seq<f32[?]>, %n: i64[], %c: bool[]) -> (y: string[2,2], u: seq<f32[?]>, z: f32[r], w: f32[L]) {
  %a = strided_copy %x {shape=[2,2] strides=[1,2]} : string[2,2]
  %b = strided_copy %a {shape=[2,2] strides=[1,2]} : string[2,2]
  %u = sequence_erase %s, %n : seq<f32[?]>
  %d = fill {value=f32[](2) shape=[L]} : f32[L]
  %e = neg %d : f32[L]
  %z = if %c {extents=[{symbol="r"}]} : f32[r]
    region () {
      return %e
    }
    region () {
      %g = concat %e, %e {axis=0} : f32[2*L]
      return %g
    }
  %w = neg %e : f32[L]
  return %b, %u, %z, %w
}`)
	node := f.Nodes[5]
	refs := map[*ir.Node][]*plan.Ref{node: {{Value: node.Results[0], Access: plan.Write, Shaped: true}}}
	p, err := plan.Make(f, late, refs)
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, v := range p.Variables {
		held = append(held, fmt.Sprintf("%s: %s %t", v.Name, v.Type, v.Boxed))
	}
	if got, want := strings.Join(held, ", "), "a: string[2,2] false, u: seq<f32[?]> false, z: f32[r] true"; got != want {
		t.Errorf("variables %s, want %s", got, want)
	}
	var tails []string
	for _, b := range p.Tails {
		tails = append(tails, b.Name)
	}
	if got := strings.Join(tails, " "); got != "d" && got != "d e" {
		t.Errorf("allocated late: %s", got)
	}
	if len(p.Buffers) > 0 {
		t.Errorf("the arena has %v", p.Buffers[0].Name)
	}
}

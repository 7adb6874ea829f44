package untyped

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// sample is a session with a method for each form of parameters and results that generated packages have.
type sample struct {
	ctx   context.Context
	total float32
}

func (s *sample) SetContext(ctx context.Context) { s.ctx = ctx }
func (s *sample) Reset()                         { s.total = 0 }

type pair struct {
	A [2]float32
	B rt.Tensor[string]
}

func (s *sample) Fixed(dst *[2]float32, x *[2]float32) error {
	*dst = [2]float32{2 * x[0], 2 * x[1]}
	return s.ctx.Err()
}

func (s *sample) Rows(dst [][2]int64, x [][2]int64) error {
	for i := range x {
		dst[i] = [2]int64{x[i][1], x[i][0]}
	}
	return nil
}

func (s *sample) Scalar(dst *float32, x float32) error {
	s.total += x
	*dst = s.total
	return nil
}

func (s *sample) Open(dst *rt.Tensor[bool], x rt.Tensor[bool]) error {
	dst.Data, dst.Shape = slices.Clone(x.Data), slices.Clone(x.Shape)
	slices.Reverse(dst.Data)
	return nil
}

func (s *sample) Fields(dst *pair, in pair) error {
	dst.A, dst.B = in.A, rt.Tensor[string]{Data: []string{strings.Join(in.B.Data, "+")}, Shape: []int{1}}
	return nil
}

func (s *sample) Fails(*[2]float32, *[2]float32) error { return errors.New("cause") }

func port(name, dtype string, shape ...string) rt.Port {
	return rt.Port{Name: name, DType: dtype, Shape: shape}
}

// one returns a method with one input and one output, which have the same type.
func one(name, dtype string, shape ...string) rt.ServedMethod {
	return rt.ServedMethod{Name: name, Inputs: []rt.Port{port("x", dtype, shape...)}, Outputs: []rt.Port{port("y", dtype, shape...)}}
}

func several() rt.ServedMethod {
	list := []rt.Port{port("a", "f32", "2"), port("b", "string", "N")}
	return rt.ServedMethod{Name: "Fields", Inputs: list, Outputs: list}
}

func bound(t *testing.T, described rt.ServedMethod) (*Session, *Method) {
	t.Helper()
	m, err := NewMethod(described.Name, described)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Bind(&sample{}, []*Method{m})
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// bytesOf returns elements in memory from Alloc.
func bytesOf[T any](size int, list ...T) []byte {
	data := Alloc(size * len(list))
	copy(View[T](data), list)
	return data
}

// TestRun calls a method of each form.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		method rt.ServedMethod
		in     []Tensor
		check  func(out []Tensor) bool
	}{
		{one("Fixed", "f32", "2"), []Tensor{{Shape: []int{2}, Data: bytesOf[float32](4, 1, 2)}},
			func(out []Tensor) bool { return slices.Equal(View[float32](out[0].Data), []float32{2, 4}) }},
		{one("Rows", "i64", "N", "2"), []Tensor{{Shape: []int{2, 2}, Data: bytesOf[int64](8, 1, 2, 3, 4)}},
			func(out []Tensor) bool { return slices.Equal(View[int64](out[0].Data), []int64{2, 1, 4, 3}) }},
		{one("Rows", "i64", "N", "2"), []Tensor{{Shape: []int{0, 2}}},
			func(out []Tensor) bool { return len(out[0].Data) == 0 && slices.Equal(out[0].Shape, []int{0, 2}) }},
		{one("Scalar", "f32"), []Tensor{{Shape: []int{}, Data: bytesOf[float32](4, 3)}},
			func(out []Tensor) bool { return slices.Equal(View[float32](out[0].Data), []float32{3}) }},
		{one("Open", "bool", "N", "M"), []Tensor{{Shape: []int{1, 3}, Data: []byte{1, 0, 0}}},
			func(out []Tensor) bool {
				return slices.Equal(out[0].Data, []byte{0, 0, 1}) && slices.Equal(out[0].Shape, []int{1, 3})
			}},
		{several(), []Tensor{{Shape: []int{2}, Data: bytesOf[float32](4, 5, 6)}, {Shape: []int{2}, Texts: []string{"p", "q"}}},
			func(out []Tensor) bool {
				return slices.Equal(View[float32](out[0].Data), []float32{5, 6}) && slices.Equal(out[1].Texts, []string{"p+q"}) && out[1].Len() == 1
			}},
	} {
		s, m := bound(t, c.method)
		for i := range c.in {
			c.in[i].Port = m.In[i]
		}
		if err := CheckShapes(c.in); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if out, err := s.Run(t.Context(), m, c.in); err != nil || !c.check(out) {
			t.Errorf("%s: %v, %v", m.Name, out, err)
		}
	}
}

// TestErrors asserts that the errors of a method and of its context are those of Run, and that results are their
// own memory.
func TestErrors(t *testing.T) {
	s, m := bound(t, one("Fails", "f32", "2"))
	in := []Tensor{{Port: m.In[0], Shape: []int{2}, Data: Alloc(8)}}
	if _, err := s.Run(t.Context(), m, in); err == nil || err.Error() != "cause" {
		t.Error(err)
	}
	s, m = bound(t, one("Fixed", "f32", "2"))
	in[0].Data = bytesOf[float32](4, 1, 2)
	first, err := s.Run(t.Context(), m, in)
	if err != nil {
		t.Fatal(err)
	}
	in[0].Data = Alloc(8)
	if _, err := s.Run(t.Context(), m, in); err != nil || View[float32](first[0].Data)[1] != 4 {
		t.Errorf("%v, %v", first, err)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Run(done, m, in); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestReset asserts that Reset forgets what calls have added up.
func TestReset(t *testing.T) {
	s, m := bound(t, one("Scalar", "f32"))
	call := func() float32 {
		out, err := s.Run(t.Context(), m, []Tensor{{Port: m.In[0], Shape: []int{}, Data: bytesOf[float32](4, 3)}})
		if err != nil {
			t.Fatal(err)
		}
		return View[float32](out[0].Data)[0]
	}
	a, b := call(), call()
	s.Reset()
	if c := call(); a != 3 || b != 6 || c != 3 {
		t.Errorf("%v %v %v", a, b, c)
	}
}

// TestMistakes describes methods that a session does not have.
func TestMistakes(t *testing.T) {
	if _, err := NewMethod("m", one("Fixed", "f8e4m3", "2")); err == nil || err.Error() != `m: input "x" has type f8e4m3, which only Go programs can pass` {
		t.Error(err)
	}
	if _, err := Bind(t, nil); err == nil || !strings.Contains(err.Error(), "is not the session of a generated package") {
		t.Error(err)
	}
	two := one("Fixed", "f32", "2")
	two.Inputs = append(two.Inputs, two.Inputs[0])
	for want, described := range map[string]rt.ServedMethod{
		"there is no such method":     one("Missing", "f32"),
		"it has type func(":           one("Reset", "f32"),
		"it takes 1 inputs":           two,
		`"x" is a *[2]float32, which`: one("Fixed", "f64", "2"),
	} {
		m, err := NewMethod("m", described)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Bind(&sample{}, []*Method{m}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestCheckShapes(t *testing.T) {
	m, err := NewMethod("m", rt.ServedMethod{Inputs: []rt.Port{port("a", "f32", "N", "2"), port("b", "f32", "N", "2*N")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b []int
		want string
	}{
		{[]int{3, 2}, []int{3, 6}, ""},
		{[]int{3, 2}, []int{3, 7}, ""}, // for the model to check
		{[]int{3}, []int{3, 6}, `input "a" has shape [3], want 2 dimensions, [N 2]`},
		{[]int{3, 1}, []int{3, 6}, `input "a" has shape [3 1], want 2 along dimension 1, [N 2]`},
		{[]int{3, 2}, []int{4, 6}, `input "b" has shape [4 6], want 3 along dimension 0, [N 2*N]`},
	} {
		got := ""
		if err := CheckShapes([]Tensor{{Port: m.In[0], Shape: c.a}, {Port: m.In[1], Shape: c.b}}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestElements(t *testing.T) {
	const large = int(^uint(0) >> 1)
	for _, c := range []struct {
		shape      []int
		size, want int
	}{{nil, 4, 1}, {[]int{2, 3}, 4, 6}, {[]int{large, 0}, 1, 0}, {[]int{-1}, 4, -1}, {[]int{large / 2}, 4, -1}, {[]int{0, large, 2}, 1, -1}} {
		n, err := Elements(c.shape, c.size)
		if err != nil {
			n = -1
		}
		if n != c.want {
			t.Errorf("%v of %d bytes: %d, %v, want %d", c.shape, c.size, n, err, c.want)
		}
	}
}

// TestBindFuncs passes methods as values.
func TestBindFuncs(t *testing.T) {
	m, err := NewMethod("m", one("Fixed", "f32", "2"))
	if err != nil {
		t.Fatal(err)
	}
	list, s := []*Method{m}, &sample{}
	bound, err := BindFuncs(s, list, []any{s.Fixed})
	if err != nil {
		t.Fatal(err)
	}
	out, err := bound.Run(t.Context(), m, []Tensor{{Port: m.In[0], Shape: []int{2}, Data: bytesOf[float32](4, 1, 2)}})
	if err != nil || !slices.Equal(View[float32](out[0].Data), []float32{2, 4}) {
		t.Errorf("%v, %v", out, err)
	}
	for _, funcs := range [][]any{nil, {nil}, {"Fixed"}, {s.Open}, {s.Fixed, s.Fixed}} {
		if _, err := BindFuncs(s, list, funcs); err == nil {
			t.Errorf("%d functions are accepted: %T", len(funcs), funcs)
		}
	}
}

package contract

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"program/dynamic"

	"github.com/burngen/burngen/runtime/rt"
)

type (
	Inputs  = dynamic.Inputs
	Outputs = dynamic.Outputs
	ids     = rt.Tensor[int64]
	floats  = rt.Tensor[float32]
)

// vocabulary is the number of rows of the model's table.
const vocabulary = 30

// draw returns the arguments of a seed.
func draw(seed uint32) Inputs { return sentences(2, 5, seed) }

// sentences returns n sentences of s words.
func sentences(n, s int, seed uint32) Inputs {
	in := Inputs{
		Ids:  ids{Data: make([]int64, n*s), Shape: []int{n, s}},
		Mask: floats{Data: make([]float32, n*s), Shape: []int{n, s}},
	}
	rt.Uniform(in.Ids.Data, 0, vocabulary, seed)
	rt.Uniform(in.Mask.Data, 0, 1, seed+1)
	return in
}

// argument returns the elements of the arguments.
func argument(in Inputs) []float64 {
	var out []float64
	for _, v := range in.Ids.Data {
		out = append(out, float64(v))
	}
	for _, v := range in.Mask.Data {
		out = append(out, float64(v))
	}
	return out
}

// elements returns the elements of the results.
func elements(r Outputs) []float32 { return slices.Concat(r.Words.Data, r.Sentence.Data) }

// result returns room for results.
func result() *Outputs { return new(Outputs) }

// into calls a session.
func into(s *Session, r *Outputs, in Inputs) error { return s.Forward(r, in) }

func TestAnyExtents(t *testing.T) {
	m := opened(t)
	s := session(t, m)
	var r Outputs
	for _, shape := range [][2]int{{1, 1}, {4, 9}, {2, 3}, {9, 4}, {0, 3}, {1, 60}} {
		in := sentences(shape[0], shape[1], 1)
		want, err := m.Forward(in)
		if err != nil {
			t.Fatalf("%v: %v", shape, err)
		}
		if err := s.Forward(&r, in); err != nil {
			t.Fatalf("%v: %v", shape, err)
		}
		if !slices.Equal(bits(elements(r)), bits(elements(want))) {
			t.Errorf("%v: a session gives other results", shape)
		}
		if want := fmt.Sprint([]int{shape[0], shape[1], 8}, []int{shape[0], 8}); fmt.Sprint(r.Words.Shape, r.Sentence.Shape) != want {
			t.Errorf("%v: shapes %v %v, want %s", shape, r.Words.Shape, r.Sentence.Shape, want)
		}
	}
}

func TestSmallerExtentsDoNotAllocate(t *testing.T) {
	s, r := session(t, opened(t)), result()
	large, small := sentences(6, 9, 1), sentences(2, 3, 1)
	for _, in := range []Inputs{large, small} {
		if err := s.Forward(r, in); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		for _, in := range [...]Inputs{large, small} {
			if err := s.Forward(r, in); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	m := opened(t)
	s := session(t, m)
	good := sentences(2, 3, 1)
	for name, test := range map[string]struct {
		in    Inputs
		words []string
	}{
		"nothing":             {Inputs{}, []string{"ids"}},
		"no mask":             {Inputs{Ids: good.Ids}, []string{"mask"}},
		"rank":                {Inputs{Ids: good.Ids, Mask: floats{good.Mask.Data, []int{6}}}, []string{"mask"}},
		"too little data":     {Inputs{Ids: ids{good.Ids.Data[:5], []int{2, 3}}, Mask: good.Mask}, []string{"ids"}},
		"too much data":       {Inputs{Ids: good.Ids, Mask: floats{make([]float32, 7), []int{2, 3}}}, []string{"mask"}},
		"symbols disagree":    {Inputs{Ids: good.Ids, Mask: floats{good.Mask.Data, []int{3, 2}}}, []string{"mask", "N"}},
		"negative extent":     {Inputs{Ids: ids{nil, []int{-1, 3}}, Mask: good.Mask}, []string{"ids"}},
		"two negatives":       {Inputs{Ids: ids{good.Ids.Data, []int{-2, -3}}, Mask: good.Mask}, []string{"ids"}},
		"product overflows":   {Inputs{Ids: ids{nil, []int{math.MaxInt, math.MaxInt}}, Mask: good.Mask}, []string{"ids"}},
		"product wraps to 0":  {Inputs{Ids: ids{nil, []int{1 << 16, 1 << 16, 1 << 16, 1 << 16}}, Mask: good.Mask}, []string{"ids"}},
		"huge, but no values": {Inputs{Ids: ids{nil, []int{0, math.MaxInt}}, Mask: floats{nil, []int{0, math.MaxInt}}}, nil},
		"index too large":     {Inputs{Ids: ids{[]int64{1, 2, 3, 4, 5, vocabulary}, []int{2, 3}}, Mask: good.Mask}, []string{"/Gather"}},
		"index too small":     {Inputs{Ids: ids{[]int64{1, 2, 3, 4, 5, math.MinInt64}, []int{2, 3}}, Mask: good.Mask}, []string{"/Gather"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Forward(test.in)
			refused(t, err, test.words...)
			refused(t, s.Forward(result(), test.in), test.words...)
			if err := s.Forward(result(), good); err != nil {
				t.Errorf("after the error: %v", err)
			}
		})
	}
}

func TestNoRoomIsRefused(t *testing.T) {
	refused(t, session(t, opened(t)).Forward(nil, sentences(2, 3, 1)), "dst")
}

func TestExtentsAboveTheLimitsAreRefused(t *testing.T) {
	m := opened(t)
	s, err := m.NewSession(rt.Max{"S": 4})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, s.Forward(result(), sentences(1, 5, 1)), "S", "5", "4")
	if err := s.Forward(result(), sentences(20, 4, 1)); err != nil {
		t.Errorf("S = 4 in a session for 4: %v", err)
	}
	_, err = m.NewSession(rt.Max{"T": 4})
	refused(t, err, "T")
}

func TestResultInTheArgumentIsRefused(t *testing.T) {
	s, in := session(t, opened(t)), sentences(2, 3, 1)
	in.Mask.Data = append(make([]float32, 0, 100), in.Mask.Data...)
	before := argument(in)
	refused(t, s.Forward(&Outputs{Words: floats{Data: in.Mask.Data}}, in), "overlap")
	refused(t, s.Forward(&Outputs{Sentence: floats{Data: in.Mask.Data[3:]}}, in), "overlap")
	if !slices.Equal(argument(in), before) {
		t.Error("the arguments are others after the errors")
	}
}

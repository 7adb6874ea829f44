package nn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

// paths adds up the probabilities of all paths of a transducer from position u of step t, by trying
// them.
func paths(p func(t, u, c int) float64, targets []int, steps, t, u int) float64 {
	if t == steps {
		if u == len(targets) {
			return 1
		}
		return 0
	}
	sum := p(t, u, 0) * paths(p, targets, steps, t+1, u)
	if u < len(targets) {
		sum += p(t, u, targets[u]) * paths(p, targets, steps, t, u+1)
	}
	return sum
}

func TestRNNT(t *testing.T) {
	const steps, places, classes = 4, 4, 5
	logp := nn.LogSoftmax(nn.Normal(0, 1, 2, steps, places, classes), 3)
	x := logp.Exp().Floats()
	targets := [][]int{{1, 2, 2}, {4, 3, 1}}
	counts, lengths := []int{4, 3}, []int{3, 2}
	got := nn.RNNT(logp, nn.Of(targets), nn.Of(counts), nn.Of(lengths), 0, nn.NoReduction)
	var want []float64
	for n := range 2 {
		p := func(t, u, c int) float64 { return x[((n*steps+t)*places+u)*classes+c] }
		want = append(want, -math.Log(paths(p, targets[n][:lengths[n]], counts[n], 0, 0)))
	}
	wants(t, got, want...)
	// Every way has a factor for each step and each target.
	wants(t, nn.Grad(got.Sum(), logp)[0].Sum(), -12)
}

func TestISTFT(t *testing.T) {
	x, window := nn.Normal(0, 1, 2, 20), nn.HammingWindow(8, true)
	y := nn.ISTFT(nn.STFT(x, 8, 3, window), 8, 3, window)
	if !y.AllClose(x, 1e-4, 1e-5).Bools()[0] {
		t.Errorf("%v\nwant %v", y, x)
	}
}

// Keys and values of earlier calls stand before those of later ones.
func TestCachedAttention(t *testing.T) {
	m := nn.NewMultiHeadAttention(4, 2)
	x := nn.Normal(0, 1, 1, 3, 4)
	whole := m.Forward(x, x, x, nn.CausalMask(3))
	var keys, values, y nn.Value
	for i := range 3 {
		row := x.Narrow(1, i, 1)
		var cache [2]nn.Value
		y, cache = m.Cached(row, row, row, none, keys, values)
		keys, values = cache[0], cache[1]
		if !y.AllClose(whole.Narrow(1, i, 1), 1e-5, 1e-6).Bools()[0] {
			t.Errorf("row %d is %v, want %v", i, y, whole.Narrow(1, i, 1))
		}
	}
}

func TestScaledDotProductAttention(t *testing.T) {
	q, k, v := nn.Normal(0, 1, 1, 4, 3, 2), nn.Normal(0, 1, 1, 2, 3, 2), nn.Normal(0, 1, 1, 2, 3, 5)
	got := nn.ScaledDotProductAttention(q, k, v, none, true)
	kk, vv := k.Unsqueeze(2).Expand(1, 2, 2, 3, 2).Reshape(1, 4, 3, 2), v.Unsqueeze(2).Expand(1, 2, 2, 3, 5).Reshape(1, 4, 3, 5)
	scores := nn.Where(nn.CausalMask(3), math.Inf(-1), q.MatMul(kk.T()).Div(math.Sqrt2))
	want := nn.Softmax(scores, -1).MatMul(vv)
	if !got.AllClose(want, 1e-5, 1e-6).Bools()[0] {
		t.Errorf("%v\nwant %v", got, want)
	}
	masked := nn.ScaledDotProductAttention(q, k, v, nn.CausalMask(3), false)
	if !masked.AllClose(want, 1e-5, 1e-6).Bools()[0] {
		t.Errorf("masked: %v\nwant %v", masked, want)
	}
}

func TestEncodings(t *testing.T) {
	p := nn.NewPositionalEncoding(4, 10)
	wants(t, p.Forward(nn.Zeros(1, 3, 4)).SelectDim(1, 2), math.Sin(2), math.Cos(2), math.Sin(0.02), math.Cos(0.02))
	x := nn.Normal(0, 1, 2, 3, 4)
	for _, halves := range []bool{false, true} {
		r := nn.NewRotaryEncoding(4, 10, 10000, halves)
		// Products of rotated rows depend on how far they are apart only.
		a := r.Forward(x, 0).MatMul(r.Forward(x, 0).T())
		b := r.Forward(x, 5).MatMul(r.Forward(x, 5).T())
		if !a.AllClose(b, 1e-4, 1e-5).Bools()[0] {
			t.Errorf("halves %t: %v and %v", halves, a, b)
		}
		row := nn.Of([][]float64{{1, 0, 0, 0}})
		want := []float64{math.Cos(1), math.Sin(1), 0, 0}
		if halves {
			want = []float64{math.Cos(1), 0, math.Sin(1), 0}
		}
		wants(t, r.Forward(row, 1), want...)
	}
}

func TestQuietSoftmax(t *testing.T) {
	x := nn.Of([]float64{0, 1, -100})
	e := 1 + 1 + math.E
	wants(t, nn.QuietSoftmax(x, 0), 1/e, math.E/e, 0)
	wants(t, nn.QuietSoftmax(nn.Of([]float64{-200, -200}), 0), 0, 0)
}

// TestCachedStacks compares stacks that get one position after the other with stacks that get all at once.
func TestCachedStacks(t *testing.T) {
	nn.Seed(3)
	defer nn.Seed(0)
	none := nn.Value{}
	x, memory := nn.Normal(0, 1, 2, 5, 8), nn.Normal(0, 1, 2, 3, 8)
	e, d := nn.NewTransformerEncoder(8, 2, 3, nn.NormFirst, nn.FeedForward(16)), nn.NewTransformerDecoder(8, 2, 3, nn.FeedForward(16))
	memories := d.Memory(memory)
	for name, c := range map[string]struct {
		whole nn.Value
		next  func(x nn.Value, past [][2]nn.Value) (nn.Value, [][2]nn.Value)
	}{
		"encoder": {e.Forward(x, nn.CausalMask(5)), func(x nn.Value, past [][2]nn.Value) (nn.Value, [][2]nn.Value) { return e.Cached(x, none, past) }},
		"decoder": {d.Forward(x, memory, nn.CausalMask(5), none), func(x nn.Value, past [][2]nn.Value) (nn.Value, [][2]nn.Value) {
			return d.Cached(x, memories, none, none, past)
		}},
	} {
		var rows []nn.Value
		var past [][2]nn.Value
		for i := range 5 {
			before := past
			var y nn.Value
			y, past = c.next(x.Narrow(1, i, 1), past)
			rows = append(rows, y)
			if len(past) != 3 || past[2][1].Dim(2).String() != fmt.Sprint(i+1) || i > 0 && before[0][0].Dim(2).String() != fmt.Sprint(i) {
				t.Errorf("%s: after %d positions the cache is %v", name, i+1, past)
			}
		}
		if !nn.Concat(1, rows...).AllClose(c.whole, 1e-5, 1e-5).Bools()[0] {
			t.Errorf("%s: position by position it is %v, want %v", name, rows, c.whole)
		}
		if err := nn.Try(func() { c.next(x, past[:2]) }); err == nil || !strings.Contains(err.Error(), "keys and values of 2 layers, the stack has 3") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

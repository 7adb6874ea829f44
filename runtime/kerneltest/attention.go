package kerneltest

import (
	"math"
	"testing"
)

// AttentionKernel is an attention kernel. A kernel computes several parts of the result at the same time, and each
// part has its own scratch memory. Scratch returns the number of scratch elements that one part needs. depth is the
// length of a key, and width the length of a value.
type AttentionKernel struct {
	Attend  func(dst, q, k, v, scratch []float32, s *AttentionShape, mask *AttentionMask)
	Scratch func(keys, depth, width int) int
}

// Attention tests an attention kernel on sizes around the sizes of tiles and blocks, in several
// layouts, with all kinds of masks.
func Attention(t *testing.T, attend AttentionKernel) {
	plain := AttentionCase{Batch: 1, Heads: 2, Shared: 2, Queries: 5, Keys: 7, Depth: 8, Width: 16, Before: -1, After: -1}
	for name, edit := range map[string]func(*AttentionCase){
		"plain":                   func(*AttentionCase) {},
		"a batch":                 func(c *AttentionCase) { c.Batch = 3 },
		"heads between rows":      func(c *AttentionCase) { c.Between = true },
		"packed together":         func(c *AttentionCase) { c.Between, c.Together = true, true },
		"blocks of queries":       func(c *AttentionCase) { c.Queries, c.Keys = 300, 33 },
		"blocks of keys":          func(c *AttentionCase) { c.Queries, c.Keys = 17, 700 },
		"blocks of both":          func(c *AttentionCase) { c.Queries, c.Keys, c.After = 150, 530, 0 },
		"odd extents":             func(c *AttentionCase) { c.Queries, c.Keys, c.Depth, c.Width = 15, 37, 13, 21 },
		"wide values":             func(c *AttentionCase) { c.Width = 80 },
		"narrow values":           func(c *AttentionCase) { c.Width = 1 },
		"no elements":             func(c *AttentionCase) { c.Depth = 0 },
		"no keys":                 func(c *AttentionCase) { c.Keys = 0 },
		"one query":               func(c *AttentionCase) { c.Queries, c.Keys, c.Between = 1, 300, true },
		"one query, shared keys":  func(c *AttentionCase) { c.Queries, c.Keys, c.Heads, c.Width = 1, 40, 12, 32 },
		"many heads of one query": func(c *AttentionCase) { c.Queries, c.Heads, c.Shared = 1, 150, 1 },
		"shared keys":             func(c *AttentionCase) { c.Heads, c.Queries = 6, 20 },
		"causal":                  func(c *AttentionCase) { c.Queries, c.Keys, c.After = 40, 40, 0 },
		"causal with a past":      func(c *AttentionCase) { c.Queries, c.Keys, c.Past, c.After = 20, 60, 40, 0 },
		"window":                  func(c *AttentionCase) { c.Queries, c.Keys, c.Before, c.After = 50, 50, 3, 2 },
		"window far away":         func(c *AttentionCase) { c.Past, c.Before = 900, 10 },
		"window before the keys":  func(c *AttentionCase) { c.Past, c.After = -900, 10 },
		"long window":             func(c *AttentionCase) { c.Queries, c.Keys, c.Before, c.After = 30, 600, 0, 400 },
		"softcap":                 func(c *AttentionCase) { c.Softcap = 1.5 },
		"mask":                    func(c *AttentionCase) { c.Add = 15 },
		"mask of keys":            func(c *AttentionCase) { c.Batch, c.Add = 2, 9 },
		"mask of queries":         func(c *AttentionCase) { c.Add = 4 },
		"mask of heads":           func(c *AttentionCase) { c.Queries, c.Heads, c.Add = 1, 6, 10 },
		"allowed":                 func(c *AttentionCase) { c.Allow = 15 },
		"allowed keys":            func(c *AttentionCase) { c.Keys, c.Allow = 300, 8 },
		"lengths":                 func(c *AttentionCase) { c.Batch, c.Keys, c.Lengths = 3, 270, []int64{0, 263, 999} },
		"negative length":         func(c *AttentionCase) { c.Lengths = []int64{-5} },
		"starts":                  func(c *AttentionCase) { c.Batch, c.After, c.Starts = 2, 0, []int64{1, 3} },
		"enormous starts":         func(c *AttentionCase) { c.Batch, c.Before, c.Starts = 2, 1, []int64{math.MaxInt64, math.MinInt64} },
		"sinks":                   func(c *AttentionCase) { c.Sinks = true },
		"sinks of one query":      func(c *AttentionCase) { c.Queries, c.Heads, c.Sinks = 1, 6, true },
		"sinks and no keys":       func(c *AttentionCase) { c.Keys, c.Sinks = 0, true },
		"unaligned":               func(c *AttentionCase) { c.Queries, c.Keys, c.Shift, c.Add = 30, 50, 3, 15 },
		"infinity, NaN, −0":       func(c *AttentionCase) { c.Queries, c.Keys, c.Special = 40, 40, true },
		"everything": func(c *AttentionCase) {
			*c = AttentionCase{
				Batch: 2, Heads: 4, Shared: 2, Queries: 33, Keys: 300, Depth: 24, Width: 40, Past: 250, Before: 280, After: 1, Softcap: 2,
				Between: true, Add: 13, Allow: 9, Lengths: []int64{290, 300}, Starts: []int64{5, 0}, Sinks: true, Shift: 1,
			}
		},
	} {
		c := plain
		edit(&c)
		t.Run(name, func(t *testing.T) { CheckAttention(t, attend, c) })
	}
}

// AttentionCase is one attention to test.
type AttentionCase struct {
	Batch, Heads, Shared, Queries, Keys, Depth, Width int

	Past, Before, After int
	Softcap             float32
	Between             bool    // the heads of a row are adjacent
	Together            bool    // keys and values are in one tensor with the rows of the queries
	Add, Allow          int     // the axes of the mask: 8 for the batch, 4 for heads, 2 for queries, 1 for keys
	Lengths, Starts     []int64 // as in AttentionMask
	Sinks               bool    // the mask has random sinks
	Shift               int     // offset of the operands from an aligned address, in elements
	Special             bool    // the operands include special numbers
	Seed                uint32  // seed of the operands
}

// CheckAttention compares the kernel's result for one case with the definition.
func CheckAttention(t *testing.T, attend AttentionKernel, c AttentionCase) {
	t.Helper()
	s := &AttentionShape{
		Batch: c.Batch, Heads: c.Heads, Shared: c.Shared, Queries: c.Queries, Keys: c.Keys, Depth: c.Depth, Width: c.Width,
		Scale: 0.5, Softcap: c.Softcap, Past: c.Past, Before: c.Before, After: c.After,
	}
	r := NewRandom(c.Seed + 1)
	r.special = c.Special
	// operand returns elements [batch, heads, rows, n], and their offset and strides as in
	// AttentionShape.
	operand := func(heads, rows, n int) (*Slice[float32], [4]int) {
		row, at := n, [4]int{}
		if c.Together {
			row, at[0] = n+5, 2
		}
		at[1], at[2], at[3] = heads*rows*row, rows*row, row
		if c.Between {
			at[2], at[3] = row, heads*row
		}
		return r.Input(at[0]+c.Batch*heads*rows*row, c.Shift), at
	}
	var q, k, v *Slice[float32]
	q, s.Q = operand(c.Heads, c.Queries, c.Depth)
	k, s.K = operand(c.Shared, c.Keys, c.Depth)
	v, s.V = operand(c.Shared, c.Keys, c.Width)
	var layout *Slice[float32]
	layout, s.Y = operand(c.Heads, c.Queries, c.Width)
	dst := NewSlice[float32](len(layout.Data), c.Shift)

	mask, operands := &AttentionMask{Lengths: c.Lengths, Starts: c.Starts}, []*Slice[float32]{q, k, v}
	axes, size := c.Add|c.Allow, 1
	for i, n := range []int{c.Keys, c.Queries, c.Heads, c.Batch} {
		if axes>>i&1 != 0 {
			s.Mask[3-i] = size
			size *= n
		}
	}
	if c.Add != 0 {
		add := r.Input(size, c.Shift)
		mask.Add, operands = add.Data, append(operands, add)
	}
	if c.Allow != 0 {
		for range size {
			mask.Allow = append(mask.Allow, r.next()%4 != 0)
		}
	}
	if c.Sinks {
		sinks := r.Input(c.Heads, c.Shift)
		mask.Sinks, operands = sinks.Data, append(operands, sinks)
	}
	scratch := NewSlice[float32](3*attend.Scratch(c.Keys, c.Depth, c.Width), c.Shift)
	attend.Attend(dst.Data, q.Data, k.Data, v.Data, scratch.Data, s, mask)

	scratch.Check(t, "scratch")
	dst.Check(t, "dst")
	for _, x := range operands {
		x.Check(t, "an operand")
	}
	written := make([]bool, len(dst.Data))
	for b := range c.Batch {
		for h := range c.Heads {
			for i := range c.Queries {
				want, room := attention(s, mask, q.Data, k.Data, v.Data, b, h, i)
				for e, x := range want {
					at := s.Y[0] + b*s.Y[1] + h*s.Y[2] + i*s.Y[3] + e
					written[at] = true
					if got := float64(dst.Data[at]); !(math.Abs(got-x) <= room) && !(x != x && got != got) {
						t.Fatalf("%+v: element %d of query %d of head %d of %d is %v, want %v", c, e, i, h, b, got, x)
					}
				}
			}
		}
	}
	for at, is := range written {
		if !is && math.Float32bits(dst.Data[at]) != stamp*0x01010101 {
			t.Fatalf("dst[%d] between rows has been overwritten", at)
		}
	}
}

// attention computes the attention of query i of head h in batch element b from the definition, in float64. It
// returns the result y and `room`, the absolute tolerance for a kernel's result.
func attention(s *AttentionShape, m *AttentionMask, q, k, v []float32, b, h, i int) (y []float64, room float64) {
	y = make([]float64, s.Width)
	g := h / (s.Heads / s.Shared)
	keys, position := s.Keys, float64(s.Past+i)
	if m.Lengths != nil {
		keys = int(min(max(m.Lengths[b], 0), int64(keys)))
	}
	if m.Starts != nil {
		position += float64(m.Starts[b])
	}
	var scores []float64
	var rows [][]float32
	for j := range keys {
		after := float64(j) - position
		if s.Before >= 0 && after < -float64(s.Before) || s.After >= 0 && after > float64(s.After) {
			continue
		}
		at := b*s.Mask[0] + h*s.Mask[1] + i*s.Mask[2] + j*s.Mask[3]
		if m.Allow != nil && !m.Allow[at] {
			continue
		}
		sum := 0.0
		for d := range s.Depth {
			sum += float64(q[s.Q[0]+b*s.Q[1]+h*s.Q[2]+i*s.Q[3]+d]) * float64(k[s.K[0]+b*s.K[1]+g*s.K[2]+j*s.K[3]+d])
		}
		sum *= float64(s.Scale)
		if s.Softcap != 0 {
			sum = float64(s.Softcap) * math.Tanh(sum/float64(s.Softcap))
		}
		if m.Add != nil {
			sum += float64(m.Add[at])
		}
		scores = append(scores, sum)
		rows = append(rows, v[s.V[0]+b*s.V[1]+g*s.V[2]+j*s.V[3]:][:s.Width])
	}
	top, total := math.Inf(-1), 0.0
	for _, x := range scores {
		top = math.Max(top, x)
	}
	if len(scores) > 0 && math.IsInf(top, -1) {
		return y, 0 // every key attended to has a score of −Inf
	}
	if m.Sinks != nil {
		top = math.Max(top, float64(m.Sinks[h]))
		total = math.Exp(float64(m.Sinks[h]) - top)
	}
	for _, x := range scores {
		total += math.Exp(x - top)
	}
	for j, x := range scores {
		for e := range y {
			y[e] += math.Exp(x-top) / total * float64(rows[j][e])
		}
	}
	return y, 1e-5
}

package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

func TestAttention(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Attention(t, attention) })
}

// An operand that is too short must stop the kernel before it touches memory.
func TestShortAttentionPanics(t *testing.T) {
	f := func(n int) []float32 { return make([]float32, n) }
	s := cpu.AttentionShape{
		Batch: 1, Heads: 2, Shared: 2, Queries: 3, Keys: 4, Depth: 5, Width: 6, Before: -1, After: -1,
		Q: [4]int{0, 0, 15, 5}, K: [4]int{0, 0, 20, 5}, V: [4]int{0, 0, 24, 6}, Y: [4]int{0, 0, 18, 6},
	}
	scratch := f(cpu.AttentionScratch(4, 5, 6))
	negative, uneven, masked := s, s, s
	negative.K[3] = -5
	uneven.Heads = 3
	masked.Mask = [4]int{0, 12, 4, 1}
	for name, call := range map[string]func(){
		"dst":      func() { cpu.Attention(f(35), f(30), f(40), f(48), scratch, &s, nil) },
		"queries":  func() { cpu.Attention(f(36), f(29), f(40), f(48), scratch, &s, nil) },
		"keys":     func() { cpu.Attention(f(36), f(30), f(39), f(48), scratch, &s, nil) },
		"values":   func() { cpu.Attention(f(36), f(30), f(40), f(47), scratch, &s, nil) },
		"scratch":  func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch[1:], &s, nil) },
		"negative": func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch, &negative, nil) },
		"uneven":   func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch, &uneven, nil) },
		"mask":     func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch, &masked, &cpu.AttentionMask{Add: f(23)}) },
		"allowed": func() {
			cpu.Attention(f(36), f(30), f(40), f(48), scratch, &masked, &cpu.AttentionMask{Allow: make([]bool, 23)})
		},
		"lengths": func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch, &s, &cpu.AttentionMask{Lengths: []int64{}}) },
		"starts":  func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch, &s, &cpu.AttentionMask{Starts: []int64{}}) },
		"sinks":   func() { cpu.Attention(f(36), f(30), f(40), f(48), scratch, &s, &cpu.AttentionMask{Sinks: f(1)}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

func FuzzAttention(f *testing.F) {
	f.Add(uint16(20), uint16(300), uint8(13), uint8(21), uint8(5), int16(2), int16(3), uint32(77))
	f.Add(uint16(1), uint16(40), uint8(64), uint8(64), uint8(255), int16(-1), int16(0), uint32(3))
	f.Fuzz(func(t *testing.T, queries, keys uint16, depth, width, bits uint8, before, after int16, seed uint32) {
		c := kerneltest.AttentionCase{
			Batch: 1 + int(seed%2), Shared: 1 + int(seed/2%2), Queries: 1 + int(queries)%200, Keys: int(keys) % 600, Depth: int(depth) % 70, Width: 1 + int(width)%70,
			Past: int(seed / 4 % 64), Before: max(-1, int(before)), After: max(-1, int(after)), Between: bits&1 != 0, Together: bits&2 != 0,
			Sinks: bits&4 != 0, Shift: int(seed / 256 % 16), Seed: seed,
		}
		c.Heads = c.Shared * (1 + int(seed/16%3))
		switch bits >> 6 {
		case 1:
			c.Add = int(bits >> 3 & 7)
		case 2:
			c.Allow = int(bits >> 3 & 7)
		}
		atEachLevel(t, func(t *testing.T) { kerneltest.CheckAttention(t, attention, c) })
	})
}

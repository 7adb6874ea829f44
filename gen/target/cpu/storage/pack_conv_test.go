package storage

import "testing"

// TestPackingReach asserts which blocks of input channels each block of output channels sums over.
func TestPackingReach(t *testing.T) {
	for _, c := range []struct {
		p     Packing
		width int
		// reach is the range of each output block, and first its first packed block.
		reach [][2]int
		first []int
	}{
		{Packing{InC: 40, OutC: 20, Group: 1, InBlock: 16}, 3, [][2]int{{0, 3}, {0, 3}}, []int{0, 0}},
		{Packing{InC: 3, OutC: 32, Group: 1, InBlock: 1}, 3, [][2]int{{0, 3}, {0, 3}}, []int{0, 0}},
		// A group in a block.
		{Packing{InC: 64, OutC: 64, Group: 4, InBlock: 16}, 1, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, []int{0, 1, 2, 3}},
		// Several groups in a block.
		{Packing{InC: 32, OutC: 32, Group: 8, InBlock: 16}, 1, [][2]int{{0, 1}, {1, 2}}, []int{0, 1}},
		// A block of output channels with the end of a group and the beginning of the next.
		{Packing{InC: 48, OutC: 48, Group: 2, InBlock: 16}, 3, [][2]int{{0, 2}, {0, 3}, {1, 3}}, []int{0, 0, 0}},
		// The last block has the four channels of the last group.
		{Packing{InC: 20, OutC: 20, Group: 5, InBlock: 16}, 1, [][2]int{{0, 1}, {1, 2}}, []int{0, 1}},
	} {
		if err := c.p.check(); err != nil {
			t.Error(err)
		}
		if got := c.p.outBlocks(); got != len(c.reach) {
			t.Errorf("%+v: %d blocks", c.p, got)
			continue
		}
		if got := c.p.width(); got != c.width {
			t.Errorf("%+v: width %d, want %d", c.p, got, c.width)
		}
		for o, want := range c.reach {
			from, to := c.p.reach(o)
			first := c.p.first(o, c.p.width())
			if got := [2]int{from, to}; got != want || first != c.first[o] {
				t.Errorf("%+v: block %d sums over %v packed from %d, want %v from %d", c.p, o, got, first, want, c.first[o])
			}
			if first > from || first+c.p.width() < to || first < 0 || first+c.p.width() > c.p.inBlocks() {
				t.Errorf("%+v: block %d has packed weights of blocks %d to %d, and sums over %v", c.p, o, first, first+c.p.width(), want)
			}
		}
	}
	for _, p := range []Packing{
		{InC: 16, OutC: 16, Group: 1, InBlock: 8},
		{InC: 16, OutC: 16, Group: 3, InBlock: 16},
		{InC: 18, OutC: 16, Group: 3, InBlock: 16},
		{InC: 16, OutC: 16, Group: 0, InBlock: 16},
		{InC: 0, OutC: 16, Group: 1, InBlock: 16},
	} {
		if p.check() == nil {
			t.Errorf("%+v is not refused", p)
		}
	}
}

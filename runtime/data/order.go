package data

// order is the order of the items in an epoch.
type order struct {
	n int
	// used unless blocks are shuffled
	items Permutation

	// number of items in a block, above 1 if blocks are shuffled
	block  int
	blocks Permutation
	key    uint64
	// position of the last block, which may be shorter
	short int
	// number of items by which the last block is shorter
	missing int
}

// window is the number of adjacent blocks whose items are shuffled together.
const window = 8

func inOrder(n int) order { return order{n: n} }

// shuffledOrder returns a random order of n items. `block` is the number of items in a block. If it
// is below 2 or at least n, shuffledOrder permutes all items. Otherwise it permutes the blocks,
// divides the permuted blocks into groups of `window` blocks, and permutes the items of each group.
func shuffledOrder(n, block int, seed, epoch uint64) order {
	if block <= 1 || block >= n {
		return order{n: n, block: 1, items: NewPermutation(n, seed, epoch)}
	}
	count := (n-1)/block + 1
	o := order{n: n, block: block, blocks: NewPermutation(count, seed, epoch), key: keyOf(seed, epoch)}
	o.short = o.blocks.Position(count - 1)
	o.missing = (block - n%block) % block
	return o
}

// at returns the index of the item at position i.
func (o *order) at(i int) int {
	switch o.block {
	case 0:
		return i
	case 1:
		return o.items.At(i)
	}
	span := window * o.block // items in a window
	w := i / span
	if o.short/window < w || o.short/window == w && i-w*span >= o.size(w) {
		w = (i + o.missing) / span
	}
	begin := w * span
	if w > o.short/window {
		begin -= o.missing
	}
	mixing := NewPermutation(o.size(w), o.key, uint64(w))
	k := mixing.At(i - begin)
	if w == o.short/window && k >= (o.short%window+1)*o.block-o.missing {
		k += o.missing
	}
	return o.blocks.At(w*window+k/o.block)*o.block + k%o.block
}

// size returns the number of items in window w.
func (o *order) size(w int) int {
	n := min(window, o.blocks.Len()-w*window) * o.block
	if w == o.short/window {
		n -= o.missing
	}
	return n
}

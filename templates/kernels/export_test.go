package kernels

// SetLeastLarge makes products of rows with fewer sums have large tiles until restore is called.
func SetLeastLarge(blocks int) (restore func()) {
	before := leastLarge
	leastLarge = blocks
	return func() { leastLarge = before }
}

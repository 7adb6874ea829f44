package nn

// LimitNodes sets the number of operations that a recording may have. It returns a function that
// restores the old limit.
func LimitNodes(n int64) (restore func()) {
	before := maxNodes
	maxNodes = n
	return func() { maxNodes = before }
}

package nn

// LimitNodes sets the number of operations that a recording may have, and returns what
// sets it back.
func LimitNodes(n int64) (restore func()) {
	before := maxNodes
	maxNodes = n
	return func() { maxNodes = before }
}

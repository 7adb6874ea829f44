package pass

// Exported for tests of whole pipelines.
var (
	IsRandom  = isRandom
	Left      = left
	Recompute = recompute
	Repeated  = repeated
	Seq       = seq
)

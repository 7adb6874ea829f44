package pass

// Exported for tests of whole pipelines.
var (
	IsRandom = isRandom
	Left     = left
	Repeated = repeated
	Seq      = seq
)

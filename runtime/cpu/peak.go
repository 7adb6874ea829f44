package cpu

// MultiplyAdds measures the peak rate of a core. It runs n iterations of twelve independent
// multiply-adds of full vector registers, and returns the number of floating-point operations: two
// for each element. The peak rate at [CurrentLevel] is this number divided by the time of the call.
// Without assembly, MultiplyAdds does nothing and returns 0.
func MultiplyAdds(n int) (operations int64) { return int64(multiplyAdds(n)) * 24 }

// TileRows returns the number of rows of the largest matrix-product tile at [CurrentLevel].
func TileRows() int {
	rows, _ := tileLimits()
	return rows
}

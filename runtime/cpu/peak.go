package cpu

// MultiplyAdds runs n iterations of twelve independent multiply-adds of full vector registers. It
// returns the number of floating-point operations, two for each element. This number, divided by
// the time of the call, is the peak rate of a core at [CurrentLevel]. Without assembly it does
// nothing and returns 0.
func MultiplyAdds(n int) (operations int64) { return int64(multiplyAdds(n)) * 24 }

// TileRows returns the number of rows of the largest matrix-product tile at [CurrentLevel].
func TileRows() int {
	rows, _ := tileLimits()
	return rows
}

package cpu

// MultiplyAdds runs n iterations of twelve independent multiply-adds of full vector registers. It
// returns the number of floating-point operations, two for each element. Divided by the time this
// is the peak rate of a core at the current level. Without assembly it does nothing and returns 0.
func MultiplyAdds(n int) (operations int64) { return int64(multiplyAdds(n)) * 24 }

// TileRows returns the number of rows of the level's largest tile of a product.
func TileRows() int {
	rows, _ := tileLimits()
	return rows
}

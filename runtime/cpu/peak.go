package cpu

// MultiplyAdds runs n times twelve independent multiply-adds of a register's width and returns the
// number of floating-point operations, two for each. Their rate is the peak of a core at this level.
// Plain Go has no such loop and returns 0.
func MultiplyAdds(n int) (operations int64) { return int64(multiplyAdds(n)) * 24 }

// TileRows returns the number of rows of the level's largest tile of a product.
func TileRows() int {
	rows, _ := tileLimits()
	return rows
}

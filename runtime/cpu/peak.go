package cpu

// MultiplyAdds runs n times twelve independent multiply-adds of a register's width and
// returns how many operations on numbers they are, two for each. How fast that is, is
// what a core can do at most at the level. Plain Go has no such loop: 0.
func MultiplyAdds(n int) (operations int64) { return int64(multiplyAdds(n)) * 24 }

// TileRows is the number of rows of the level's largest tile of a product.
func TileRows() int {
	rows, _ := tileLimits()
	return rows
}

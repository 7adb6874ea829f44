package data_test

// vectors are the test vectors of docs/data.md. They were computed by a program that follows that
// page, in another language.
var vectors = []struct {
	n           int
	seed, epoch uint64
	first       []int
}{
	{5, 0, 0, []int{3, 2, 1, 4, 0}},
	{10, 42, 0, []int{2, 0, 4, 1, 7, 6, 5, 9, 8, 3}},
	{10, 42, 1, []int{4, 2, 9, 6, 8, 5, 1, 3, 7, 0}},
	{300, 1, 2, []int{203, 130, 34, 259, 232, 117, 167, 241}},
	{60000, 42, 7, []int{12252, 13758, 29903, 53047, 41516, 23117}},
	{2147483647, 18446744073709551615, 3, []int{1780559570, 2026855136, 698219204, 600365970}},
}

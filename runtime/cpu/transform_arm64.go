//go:build !noasm

package cpu

// runTransform computes a factor of F(tile,3) with the level's kernel.
func runTransform(f winogradFactor, tile int, t *transform) {
	switch {
	case level != NEON:
		transformRef(f, tile, t)
	case tile == 2 && f == spreadInputs:
		winogradSpread2NEON(t)
	case tile == 2 && f == gatherProducts:
		winogradGather2NEON(t)
	case tile == 2:
		winogradFinish2NEON(t)
	case f == spreadInputs:
		winogradSpread4NEON(t)
	case f == gatherProducts:
		winogradGather4NEON(t)
	default:
		winogradFinish4NEON(t)
	}
}

//go:build !noasm

package cpu

// runTransform computes a factor of F(tile,3) with the level's kernel.
func runTransform(f winogradFactor, tile int, t *transform) {
	switch level {
	case AVX512:
		if tile == 2 {
			switch f {
			case spreadInputs:
				winogradSpread2AVX512(t)
			case gatherProducts:
				winogradGather2AVX512(t)
			default:
				winogradFinish2AVX512(t)
			}
			return
		}
		switch f {
		case spreadInputs:
			winogradSpread4AVX512(t)
		case gatherProducts:
			winogradGather4AVX512(t)
		default:
			winogradFinish4AVX512(t)
		}
	case AVX2:
		if tile == 2 {
			switch f {
			case spreadInputs:
				winogradSpread2AVX2(t)
			case gatherProducts:
				winogradGather2AVX2(t)
			default:
				winogradFinish2AVX2(t)
			}
			return
		}
		switch f {
		case spreadInputs:
			winogradSpread4AVX2(t)
		case gatherProducts:
			winogradGather4AVX2(t)
		default:
			winogradFinish4AVX2(t)
		}
	default:
		transformRef(f, tile, t)
	}
}

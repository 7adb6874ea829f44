//go:build (!amd64 && !arm64) || noasm

package cpu

func runTransform(f winogradFactor, tile int, t *transform) { transformRef(f, tile, t) }

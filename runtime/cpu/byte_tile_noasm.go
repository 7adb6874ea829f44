//go:build !amd64 || noasm

package cpu

const vnni = false

func runBytes(t *tile) { byteTileRef(t) }

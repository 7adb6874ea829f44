//go:build (amd64 || arm64) && !noasm

package rt

// pause hints to the core that this is a spin-wait loop.
//
//go:noescape
func pause()

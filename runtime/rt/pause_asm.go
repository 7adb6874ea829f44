//go:build (amd64 || arm64) && !noasm

package rt

// pause tells the core that the loop around it waits for another core.
//
//go:noescape
func pause()

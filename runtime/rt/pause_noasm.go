//go:build !(amd64 || arm64) || noasm

package rt

// pause does nothing, because this build has no assembly for the spin-wait hint of the
// processor.
func pause() {}

//go:build !(amd64 || arm64) || noasm

package rt

// pause does nothing: this build has no assembly for a spin-wait hint.
func pause() {}

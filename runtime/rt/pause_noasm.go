//go:build !(amd64 || arm64) || noasm

package rt

// pause does nothing: this machine has no spin-wait hint.
func pause() {}

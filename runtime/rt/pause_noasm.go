//go:build !(amd64 || arm64) || noasm

package rt

// pause stands where other machines have an instruction for waiting.
func pause() {}

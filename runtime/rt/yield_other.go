//go:build !linux

package rt

// yield lets other threads use the processor if the system has a call for that.
func yield() {}

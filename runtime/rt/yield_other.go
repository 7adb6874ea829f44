//go:build !linux

package rt

// yield lets other threads of the system have the processor where there is a way to.
func yield() {}

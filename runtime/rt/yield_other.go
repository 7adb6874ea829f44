//go:build !linux

package rt

// yield does nothing, because this system has no call for yielding a thread.
func yield() {}

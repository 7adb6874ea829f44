//go:build !linux

package fake

// thread returns 0: all threads share one current context on this platform.
func thread() int { return 0 }

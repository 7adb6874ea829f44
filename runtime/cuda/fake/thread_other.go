//go:build !linux

package fake

// thread returns 0. On this platform, all threads share one current context.
func thread() int { return 0 }

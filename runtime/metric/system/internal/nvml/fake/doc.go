// Package fake is NVML in Go, for tests on machines without a card. It counts how often it is opened and closed.
// While it is closed, it refuses all calls. It refuses calls with a handle that it did not return.
package fake

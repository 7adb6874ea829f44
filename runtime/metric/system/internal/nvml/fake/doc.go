// Package fake implements NVML in Go, for tests on machines without a card. It counts how often it is opened and
// closed. It refuses all calls while it is closed, and calls with a handle that it did not return.
package fake

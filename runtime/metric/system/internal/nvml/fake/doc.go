// Package fake is NVML in Go, for tests on machines without a card. It counts how often it is opened and
// closed. It refuses calls while it is closed, and handles that it did not return.
package fake

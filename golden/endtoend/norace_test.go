//go:build !race

package endtoend

const underRaceDetector = false

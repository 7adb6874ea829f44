//go:build (!amd64 && !arm64) || noasm

package cpu

func sinAngles(_, _ []float32) bool                         { return false }
func cosAngles(_, _ []float32) bool                         { return false }
func tanAngles(_, _ []float32) bool                         { return false }
func asinFast(_, _ []float32) bool                          { return false }
func acosFast(_, _ []float32) bool                          { return false }
func atanFast(_, _ []float32) bool                          { return false }
func sinhFast(_, _ []float32) bool                          { return false }
func coshFast(_, _ []float32) bool                          { return false }
func signFast(_, _ []float32) bool                          { return false }
func cubeFast(_, _ []float32) bool                          { return false }
func softplusFast(_, _ []float32) bool                      { return false }
func softsignFast(_, _ []float32) bool                      { return false }
func celuFast(_, _ []float32, _ float32) bool               { return false }
func thresholdedReluFast(_, _ []float32, _ float32) bool    { return false }
func powers(_, _, _ []float32) bool                         { return false }
func powersScalar(_, _ []float32, _ float32) bool           { return false }
func scalarPowers(_ []float32, _ float32, _ []float32) bool { return false }

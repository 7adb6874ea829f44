//go:build (!amd64 && !arm64) || noasm

package cpu

func sgdFast(_, _ []float32, _ *SGDRates) bool                                  { return false }
func momentumFast(_, _, _ []float32, _ *SGDRates) bool                          { return false }
func adamFast(_, _, _, _ []float32, _ *AdamRates) bool                          { return false }
func amsgradFast(_, _, _, _, _ []float32, _ *AdamRates) bool                    { return false }
func adaGradFast(_, _, _ []float32, _ *AdaGradRates) bool                       { return false }
func rmsPropFast(_, _, _ []float32, _ *RMSPropRates) bool                       { return false }
func rmsPropMomentumFast(_, _, _, _ []float32, _ *RMSPropRates) bool            { return false }
func rmsPropCenteredFast(_, _, _, _ []float32, _ *RMSPropRates) bool            { return false }
func rmsPropCenteredMomentumFast(_, _, _, _, _ []float32, _ *RMSPropRates) bool { return false }
func adanFast(_, _, _, _, _, _ []float32, _ *AdanRates) bool                    { return false }
func lionFast(_, _, _ []float32, _ *LionRates) bool                             { return false }

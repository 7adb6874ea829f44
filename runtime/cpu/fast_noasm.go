//go:build (!amd64 && !arm64) || noasm

package cpu

// Without assembly no kernel has a fast variant: each reports that it has done
// nothing.

func addFast(_, _, _ []float32) bool               { return false }
func subFast(_, _, _ []float32) bool               { return false }
func mulFast(_, _, _ []float32) bool               { return false }
func divFast(_, _, _ []float32) bool               { return false }
func minFast(_, _, _ []float32) bool               { return false }
func maxFast(_, _, _ []float32) bool               { return false }
func addScalarFast(_, _ []float32, _ float32) bool { return false }
func subScalarFast(_, _ []float32, _ float32) bool { return false }
func mulScalarFast(_, _ []float32, _ float32) bool { return false }
func divScalarFast(_, _ []float32, _ float32) bool { return false }
func minScalarFast(_, _ []float32, _ float32) bool { return false }
func maxScalarFast(_, _ []float32, _ float32) bool { return false }
func scalarSubFast(_, _ []float32, _ float32) bool { return false }
func scalarDivFast(_, _ []float32, _ float32) bool { return false }

func negFast(_, _ []float32) bool                       { return false }
func absFast(_, _ []float32) bool                       { return false }
func sqrtFast(_, _ []float32) bool                      { return false }
func floorFast(_, _ []float32) bool                     { return false }
func ceilFast(_, _ []float32) bool                      { return false }
func roundFast(_, _ []float32) bool                     { return false }
func expFast(_, _ []float32) bool                       { return false }
func logFast(_, _ []float32) bool                       { return false }
func erfFast(_, _ []float32) bool                       { return false }
func tanhFast(_, _ []float32) bool                      { return false }
func sigmoidFast(_, _ []float32) bool                   { return false }
func reluFast(_, _ []float32) bool                      { return false }
func mishFast(_, _ []float32) bool                      { return false }
func geluFast(_, _ []float32) bool                      { return false }
func geluTanhFast(_, _ []float32) bool                  { return false }
func swishFast(_, _ []float32, _ float32) bool          { return false }
func leakyReluFast(_, _ []float32, _ float32) bool      { return false }
func clipFast(_, _ []float32, _, _ float32) bool        { return false }
func seluFast(_, _ []float32, _, _ float32) bool        { return false }
func hardSigmoidFast(_, _ []float32, _, _ float32) bool { return false }
func hardSwishFast(_, _ []float32, _, _ float32) bool   { return false }

func gateFast(_, _, _ []float32) bool  { return false }
func pReluFast(_, _, _ []float32) bool { return false }

func reduceFast(_ reduction, _, _ []float32, _, _ int) bool                 { return false }
func searchFast(_ reduction, _ []int64, _ []float32, _, _ int, _ bool) bool { return false }
func nothingBeyond(_ []float32, _ float32, _ bool) bool                     { return false }
func softmaxFast(_, _ []float32, _ int) bool                                { return false }
func logSoftmaxFast(_, _ []float32, _ int) bool                             { return false }
func layerNormFast(_, _, _, _ []float32, _ int, _ float32) bool             { return false }
func rmsNormFast(_, _, _ []float32, _ int, _ float32) bool                  { return false }

func affineFast(_, _ []float32, _, _ float32) bool { return false }
func moments(_ []float32) (mean, variance float64) { return 0, 0 }

func lstmCellFast(_, _, _, _, _, _ []float32) bool   { return false }
func gruCellFast(_, _, _ []float32) bool             { return false }
func gruLinearCellFast(_, _, _, _, _ []float32) bool { return false }

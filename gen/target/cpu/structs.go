package cpu

import (
	"reflect"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	runtime "github.com/burngen/burngen/runtime/cpu"
)

var constants = map[kernel.Constant]any{
	"ReLU":  runtime.ReLU,
	"ReLU6": runtime.ReLU6,
}

var structs = map[string]reflect.Type{
	"AttentionMask":  reflect.TypeFor[runtime.AttentionMask](),
	"AttentionShape": reflect.TypeFor[runtime.AttentionShape](),
	"ConvShape":      reflect.TypeFor[runtime.ConvShape](),
	"Epilogue":       reflect.TypeFor[runtime.Epilogue](),
	"MatMulShape":    reflect.TypeFor[runtime.MatMulShape](),
	"PoolShape":      reflect.TypeFor[runtime.PoolShape](),
	"ResizeSpec":     reflect.TypeFor[runtime.ResizeSpec](),
	"WinogradShape":  reflect.TypeFor[runtime.WinogradShape](),
}

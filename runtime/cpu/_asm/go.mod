module github.com/burngen/burngen/runtime/cpu/_asm

go 1.26.0

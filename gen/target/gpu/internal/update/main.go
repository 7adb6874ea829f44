// Command update writes the code of the kernels in package runtime/gpu/update, to the working directory.
package main

import (
	"log"
	"os"

	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/vulkan"
)

func main() {
	for name, t := range map[string]gpu.Target{"update.ptx": cuda.Target(), "update.spv": vulkan.Target()} {
		code, err := t.Updates()
		if err == nil {
			err = os.WriteFile(name, code, 0o666)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

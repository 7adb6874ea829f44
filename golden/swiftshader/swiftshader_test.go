// Package swiftshader tests with another driver of Vulkan.
package swiftshader

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// swiftShaderPlaces are the files with which Vulkan's loader finds SwiftShader.
var swiftShaderPlaces = []string{os.Getenv("BURNGEN_SWIFTSHADER"), "/usr/lib/chromium/vk_swiftshader_icd.json"}

// TestSwiftShader runs the tests that need a Vulkan device on SwiftShader, which has no integers of 64 bits, no
// memory of 8 or 16 bits and no floats of 64 bits. The driver is a part of Chromium. BURNGEN_SWIFTSHADER names its
// file vk_swiftshader_icd.json.
func TestSwiftShader(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	driver := ""
	for _, file := range swiftShaderPlaces {
		if _, err := os.Stat(file); err == nil {
			driver = file
			break
		}
	}
	if driver == "" {
		t.Skip("SwiftShader is not installed: set BURNGEN_SWIFTSHADER to its vk_swiftshader_icd.json")
	}
	driver, err := filepath.Abs(driver)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ folder, tests string }{
		{"./runtime/vulkan", "."},
		{"./gen/target/gpu/spirv", "TestRun"},
		{"./gen/target/vulkan", "TestAgreeOnDevice|TestKernels|TestGrids"},
		{"./examples/digits/model/vulkan", "."},
	} {
		t.Run(c.folder, func(t *testing.T) {
			run := exec.Command("go", "test", "-count=1", "-v", "-run", c.tests, c.folder)
			run.Dir = "../.."
			run.Env = append(run.Environ(), "VK_ICD_FILENAMES="+driver, "VK_DRIVER_FILES="+driver)
			out, err := run.CombinedOutput()
			if err != nil || strings.Contains(string(out), "no usable GPU") {
				t.Fatalf("%v\n%s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "refused") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

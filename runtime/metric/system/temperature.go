package system

import (
	"errors"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/sensors"
)

func hardware() ([]sensors.TemperatureStat, error) { return sensors.SensorsTemperatures() }

// onProcessor lists prefixes of the names of temperature sensors, in lower case. Sensors of the
// first list are on the processor. Sensors of the second list are near it; they are used only if
// there is no sensor of the first list.
var onProcessor = [][]string{
	{
		"coretemp", "k10temp", "zenpower", "x86_pkg_temp", // drivers of Linux for x86
		"cpu",                              // cpu_thermal, cpu-thermal, cpu0-thermal: device trees of Linux
		"tc0",                              // TC0D, TC0H, TC0P: Macs with x86
		"pmu tdie", "pacc mtr", "eacc mtr", // Macs with ARM
	},
	{"acpi"}, // zones of the firmware: acpitz of Linux, ACPI\ThermalZone of Windows
}

// temperature returns a sensor of the processor's temperature. read returns the temperatures of all
// sensors of the machine.
func temperature(read func() ([]sensors.TemperatureStat, error)) []sensor {
	for _, names := range onProcessor {
		found := gauge("temperature", "°C", func() (float64, error) {
			all, err := read() // some sensors may have failed and others not
			if hottest := hottest(all, names); hottest > 0 {
				return hottest, nil
			}
			return 0, errors.Join(errors.New("no sensor of the processor"), err)
		})
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// hottest returns the highest temperature of the sensors whose names begin with one of names, or 0
// if there is no such sensor. Drivers report 0 for a sensor that is not connected.
func hottest(all []sensors.TemperatureStat, names []string) (most float64) {
	for _, s := range all {
		is := func(name string) bool { return strings.HasPrefix(strings.ToLower(s.SensorKey), name) }
		if slices.ContainsFunc(names, is) {
			most = max(most, s.Temperature)
		}
	}
	return most
}

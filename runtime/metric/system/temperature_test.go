package system

import (
	"errors"
	"testing"

	"github.com/shirou/gopsutil/v4/sensors"
)

func TestTemperature(t *testing.T) {
	type all = []sensors.TemperatureStat
	at := func(name string, celsius float64) sensors.TemperatureStat {
		return sensors.TemperatureStat{SensorKey: name, Temperature: celsius}
	}
	for name, c := range map[string]struct {
		sensors all
		want    float64 // 0: not in the list
	}{
		"Intel":              {all{at("nvme_composite", 71), at("coretemp_core_0", 48), at("coretemp_core_1", 52), at("acpitz", 80)}, 52},
		"AMD":                {all{at("k10temp_tctl", 61.25), at("amdgpu_edge", 70)}, 61.25},
		"board":              {all{at("cpu-thermal", 44), at("gpu-thermal", 45)}, 44},
		"Mac":                {all{at("TA0P", 30), at("TC0D", 0), at("TC0P", 57), at("TG0P", 66)}, 57},
		"Mac with ARM":       {all{at("NAND CH0 temp", 66), at("PMU tdie1", 41), at("PMU tdie2", 43)}, 43},
		"Windows":            {all{at(`ACPI\ThermalZone\THM0_0`, 55)}, 55},
		"zone only":          {all{at("acpitz", 33), at("iwlwifi_1", 50)}, 33},
		"nothing connected":  {all{at("coretemp_core_0", 0)}, 0},
		"other parts":        {all{at("nvme_composite", 71), at("mycpu", 70)}, 0},
		"a virtual machine":  {nil, 0},
		"processor disabled": {all{at("coretemp_core_0", 0), at("acpitz", 40)}, 40},
	} {
		found := temperature(func() ([]sensors.TemperatureStat, error) { return c.sensors, errors.New("another sensor failed") })
		switch {
		case c.want == 0 && len(found) != 0:
			t.Errorf("%s: %g °C, want nothing", name, found[0].first)
		case c.want != 0 && (len(found) != 1 || found[0].first != c.want || found[0].series != series("temperature", "°C")):
			t.Errorf("%s: %v, want %g °C", name, found, c.want)
		}
	}
}

// TestTemperatureStays asserts that the series does not change to another part of the machine when the
// processor's sensor fails.
func TestTemperatureStays(t *testing.T) {
	all := []sensors.TemperatureStat{{SensorKey: "acpitz", Temperature: 30}, {SensorKey: "coretemp", Temperature: 60}}
	found := temperature(func() ([]sensors.TemperatureStat, error) { return all, nil })
	all = all[:1]
	if got, err := found[0].read(); err == nil {
		t.Errorf("%g °C, want an error", got)
	}
}

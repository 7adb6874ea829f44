// Package system measures the machine while a model trains: processors, memory, disk, temperature
// and NVIDIA's cards. [New] returns a machine for [learn.Options].System:
//
//	machine := system.New("runs/mnist") // the folder of the run
//	defer machine.Close()
//	l, err := learn.New(t, task, learn.Options{Dir: "runs/mnist", System: machine})
//
// These are the series, in this order. A series that the machine cannot measure is not in the list.
//
//	cpu              %   of the processors that Go uses (GOMAXPROCS), the part that this process was busy on
//	memory           MB  resident memory of this process
//	heap             MB  objects on the heap of Go, including garbage that is not collected yet
//	machine cpu      %   of all processors, the part that was busy
//	machine memory   %   of the machine's memory, the part that programs cannot get
//	disk             %   of the file system of the run's folder, the part that is full
//	temperature      °C  hottest sensor of the processor
//	gpu              %   of the time, the part in which a kernel ran on the card
//	gpu memory       MB  memory of the card that all processes use and that the driver reserves
//	gpu temperature  °C  of the card's processor
//	gpu power        W   of the card with its memory
//
// 1 MB is 10⁶ bytes. If there are several cards, all are measured, and the names contain the
// numbers that nvidia-smi shows: "gpu 0", "gpu 0 memory". The value of cpu may exceed 100 %,
// because the threads of C libraries count as well. In a container, the machine is the whole host.
//
// A program that does not import this package links neither gopsutil, which reads the operating
// system, nor the loader of NVIDIA's library.
package system

// Package serve offers generated models over the network, by the Open Inference Protocol, version
// 2. It is a nested module, so that its dependencies burden only programs that serve.
//
// [Main] is a whole program. [New] returns a [Server] for a program that has more to do: its
// Handler answers requests. [Package] names a generated package, which was written with -serve.
//
// A request passes through three stages. The server decodes it directly into the memory of
// tensors, and limits its size. It waits in the queue of its model, where every client has its own
// line. A session of the model computes it, alone or in a batch with other requests.
package serve

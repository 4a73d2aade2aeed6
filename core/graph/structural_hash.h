// Hash of a graph's structure, equal on every rank that has the same program.
//
// Definition (the bridge computes the same in Python): h = 0xcbf29ce484222325; each word w is mixed by
// h = (h XOR w) × 0x100000001b3 modulo 2^64; a text is mixed as the FNV-1a-64 hash of its UTF-8 bytes. Per
// node in program order: the op name; for calls the target; the positions of the inputs with their count;
// every scalar argument in order of args, then kwargs (integers and booleans as two's complement, floats by
// their bits, texts by their hash, symbols by hint); for the value every tensor's dtype name, rank and sizes
// (hints; -1 without). Names of nodes, symbols and devices do not enter.
#pragma once

#include "graph/graph.h"

namespace gs {

uint64_t structuralHash(const Graph& graph);

enum class ValueHash : uint8_t {
    Structure,  ///< as in the structural hash: hints, no devices, no strides
    WithSymbols ///< everything: tells two different values apart
};
uint64_t hashValue(const Value& value, ValueHash what);

} // namespace gs

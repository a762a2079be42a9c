// The arrays of packed trees by name: what is stored, read back and checked is listed once for each kind of trees.
#pragma once

namespace conjunto {

// One member of the entries of an array of structs, which is stored as an array of its own.
template <class Entry, class T>
struct Field {
    const char* name;
    T Entry::*member;
};

}  // namespace conjunto
